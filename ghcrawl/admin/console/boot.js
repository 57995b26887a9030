// Runs before anything is painted, so that nobody who chose the dark is flashed at; and, if a file of this page cannot
// be had (a replica that was just replaced, a network that changed), loads it again before a person has to.
(() => {
  const WAITS_MS = [300, 2000, 5000];
  const LOADS = "ghcrawl.loads";

  try {
    const chosen = localStorage.getItem("ghcrawl.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // A browser that keeps nothing for us follows the system.
  }

  function loads() {
    try {
      const before = Number(sessionStorage.getItem(LOADS));
      sessionStorage.setItem(LOADS, String(before + 1));
      return before;
    } catch {
      return WAITS_MS.length;
    }
  }

  function failed() {
    const wait = WAITS_MS[loads()];
    if (wait) {
      setTimeout(() => location.reload(), wait);
      return;
    }
    const main = document.getElementById("main");
    if (main) main.textContent = "The console did not load completely. Reload this page.";
  }

  let once = false;
  addEventListener(
    "error",
    ({ target }) => {
      if (once || !(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
      once = true;
      failed();
    },
    true,
  );
})();
