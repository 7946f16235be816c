"""What each head is worth to an answer: direct, by slopes, by ablation, by mediation."""
