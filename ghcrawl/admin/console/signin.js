// The token, entered once.

import { field, h } from "./dom.js";
import { session } from "./session.js";

/** The form. sentence: why it is shown again; done(): a token was entered. */
export function signIn(sentence, done) {
  const token = field(
    "Admin token",
    h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true, name: "token" }),
    "One of the service's admin tokens. A token set with #read grants read access only.",
  );
  token.complain(sentence);
  const remember = h("input", { type: "checkbox", checked: true, id: "remember" });
  const submit = (event) => {
    event.preventDefault();
    session.enter(token.input.value.trim().replace(/#(read|operate)$/, ""), remember.checked);
    done();
  };
  return h(
    "section",
    { class: "sign-in" },
    h("h1", {}, "Sign in"),
    h("p", { class: "lead" }, "Monitor and operate a running ghcrawl."),
    h(
      "form",
      { on: { submit } },
      token.box,
      h("div", { class: "check" }, remember, h("label", { for: "remember" }, "Stay signed in until this tab is closed")),
      h("button", { type: "submit", class: "button primary" }, "Sign in"),
    ),
  );
}
