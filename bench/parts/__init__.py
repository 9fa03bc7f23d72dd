"""The parts of the bench, one file each with a function run(bench)."""
