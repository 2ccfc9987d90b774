// Runs before the first render, from a file of its own because the page's policy refuses inline scripts.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('gw.theme');
  } catch {
    // A browser that refuses storage gets the system's theme.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
