// What this tab knows about who sits in front of it. The token is kept for this tab alone and goes with it.

const TOKEN = "ghcrawl.token";
const THEME = "ghcrawl.theme";
const KEYS = "ghcrawl.keys";
const LOADS = "ghcrawl.loads";

let memory = "";
let who = null;

function kept(storage, name) {
  try {
    return globalThis[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

function keep(storage, name, value) {
  try {
    if (value) globalThis[storage].setItem(name, value);
    else globalThis[storage].removeItem(name);
  } catch {
    // A browser that keeps nothing: it holds until the page is left.
  }
}

export const session = {
  get token() {
    return memory || kept("sessionStorage", TOKEN);
  },

  /** remember: whether it outlives a reload of this tab. */
  enter(token, remember) {
    memory = token;
    keep("sessionStorage", TOKEN, remember ? token : "");
  },

  leave() {
    memory = "";
    who = null;
    keep("sessionStorage", TOKEN, "");
  },

  /** {name, role}, once the service has said so. */
  get who() {
    return who;
  },
  set who(value) {
    who = value;
  },

  /** Whether things may be changed. The service refuses anyway; this only spares a person the disappointment. */
  get operates() {
    return who?.role === "operate";
  },
};

export const theme = {
  /** `light`, `dark`, or `` for what the system says. */
  get chosen() {
    return document.documentElement.dataset.theme ?? "";
  },
  get dark() {
    return this.chosen ? this.chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  },
  toggle() {
    const next = this.dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    keep("localStorage", THEME, next);
  },
};

/** Everything is loaded: what failed before does not count any more. */
export function loaded() {
  keep("sessionStorage", LOADS, "");
}

export const keys = {
  get on() {
    return kept("localStorage", KEYS) !== "off";
  },
  set on(value) {
    keep("localStorage", KEYS, value ? "" : "off");
  },
};
