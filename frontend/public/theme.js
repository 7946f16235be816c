// Runs before the first paint, so that a remembered theme never flashes the other one.
(() => {
  try {
    const theme = localStorage.getItem("headscope-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; the system's theme holds then.
  }
})();
