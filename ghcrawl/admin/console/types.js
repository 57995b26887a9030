// Types as a person reads them: with their platform, where several platforms have documents, deadletters or requests.

import { words } from "./format.js";

let usual = "";
let several = false;

/** Learn from an answer of `/status` which platforms are in use; true: types are shown otherwise than before. */
export function learn({ platforms = [], documents, deadletters, queues }) {
  const counted = [...documents.types, ...deadletters.types].map(({ platform }) => platform);
  const before = several;
  several = new Set([...counted, ...queues.flatMap((queue) => Object.keys(queue.platforms))]).size > 1;
  usual = platforms[0] ?? "";
  return several !== before;
}

/** `status` or `mastodon status`. A message without a platform is of the first one. */
export const typeOf = ({ platform = usual, type }) => (several && platform ? `${platform} ${words(type)}` : words(type));
