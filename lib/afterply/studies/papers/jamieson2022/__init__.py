"""What only [jamieson2022] needs: snapshots, convergence, tournaments, ladders of opponents."""
