"""Skip trigrams: which A ... B -> C a head raises, and which it must raise with them."""
