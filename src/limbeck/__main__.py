"""Allow `python -m limbeck`."""

from limbeck.cli import main

main()
