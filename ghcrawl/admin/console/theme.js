// Runs before anything is painted, so that nobody who chose the dark is flashed at.
try {
  const chosen = localStorage.getItem("ghcrawl.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing for us follows the system.
}
