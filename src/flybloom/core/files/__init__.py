"""Models as files: safetensors without code, written at once or not at all, and read with distrust."""
