"""The register that says how a thread computes with floats below the least normal one; see `float_mode`."""

import platform
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

HAS_MODE = not JIT_IS_OFF and platform.machine().lower() in ("x86_64", "amd64")
FLUSHES = 0x8040  # of the register MXCSR: results that small become zero, and operands are taken for zero


@intrinsic
def _mode(typing_context: Any) -> Any:
    """The register that says how this thread computes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.alloca(ir.IntType(32))
        address = builder.bitcast(place, ir.IntType(8).as_pointer())
        builder.call(_declared(builder, "llvm.x86.sse.stmxcsr"), [address])
        return builder.load(place)

    return types.uint32(), generate


@intrinsic
def _set_mode(typing_context: Any, mode: Any) -> Any:
    """Set that register."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.alloca(ir.IntType(32))
        builder.store(args[0], place)
        address = builder.bitcast(place, ir.IntType(8).as_pointer())
        builder.call(_declared(builder, "llvm.x86.sse.ldmxcsr"), [address])
        return context.get_dummy_value()

    return types.void(types.uint32), generate


def _declared(builder: Any, name: str) -> Any:
    """Return an intrinsic of LLVM that takes an address."""
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    return builder.module.globals.get(name) or ir.Function(builder.module, kind, name)


@kernel
def keep_small_floats() -> int:
    """Let this thread compute with the smallest floats, too; return its mode before, or 0 if it did."""
    mode: Any = _mode()  # type: ignore[call-arg]
    if mode & FLUSHES == 0:
        return 0
    _set_mode(mode & ~FLUSHES)
    return mode


@kernel
def restore(mode: int) -> None:
    """Let this thread compute as it did before."""
    _set_mode(types.uint32(mode))  # type: ignore[call-arg]
