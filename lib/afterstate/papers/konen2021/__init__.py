"""What only [konen2021] needs: its evaluators of ConnectFour, Hex, 2048, and of how games end."""
