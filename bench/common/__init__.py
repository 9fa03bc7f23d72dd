"""What the parts of the bench share: peers, measuring, reports, charts, the tables orders and customers."""
