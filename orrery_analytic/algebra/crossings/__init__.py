"""Where one of two costs becomes the cheaper one: as formulas, as exact stretches, and as a wish to a machine."""
