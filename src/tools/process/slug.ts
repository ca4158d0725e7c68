import type { Random } from "../../base/random.ts";

const FIRST =
  "amber brisk calm clear cool crisp dawn deep delta ember faint fast fresh gentle glow good grand keen kind lucky marine mellow mild neat nimble nova oceanic plaid quick quiet rapid salty sharp swift tender tidal tidy vivid warm wild young".split(
    " ",
  );
const SECOND =
  "atlas basil bay bison bloom breeze brook canyon cedar claw cloud comet coral cove creek crest daisy dune falcon fjord forest glade harbor haven kelp lagoon lobster meadow mist nudibranch nexus orbit otter pine prairie reef ridge river rook sable sage seaslug shell shoal shore slug summit tide trail valley willow wharf zephyr".split(
    " ",
  );

/** Two words that are not taken; a number follows when luck runs out. */
export function freeSlug(random: Random, taken: (slug: string) => boolean): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random.float() * words.length)]!;
  for (let tries = 0; tries < 20; tries += 1) {
    const slug = `${pick(FIRST)}-${pick(SECOND)}`;
    if (!taken(slug)) return slug;
  }
  const slug = `${pick(FIRST)}-${pick(SECOND)}`;
  let number = 2;
  while (taken(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}
