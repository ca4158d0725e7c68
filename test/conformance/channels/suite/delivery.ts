import { expect } from "vitest";
import type { ChannelLab } from "../lab.ts";
import type { Scene } from "../conformance.ts";
import { exchange, hears, hearsAtLast, mostCopies, textsIn, until } from "./heard.ts";

/** Numbered words, so that a missing, doubled or misplaced piece is seen. */
function numbered(length: number, word: (n: string) => string): readonly string[] {
  const words: string[] = [];
  for (let size = 0; size < length; size += words.at(-1)!.length + 1) words.push(word(String(words.length).padStart(4, "0")));
  return words;
}

/** With a paragraph now and then. */
const prose = (words: readonly string[]): string => words.map((word, n) => (n === 0 ? word : `${n % 60 === 0 ? "\n\n" : " "}${word}`)).join("");

async function arrives(lab: ChannelLab, words: readonly string[]): Promise<void> {
  const seen = (): readonly string[] => textsIn(lab).flatMap((text) => text.split(/\s+/).filter(Boolean));
  await until(
    () => seen().at(-1) === words.at(-1) && seen().length >= words.length,
    () => `${seen().length} of ${words.length} words came, the last is ${seen().at(-1)}\n${lab.gateway.output().slice(-2000)}`,
    25_000,
  );
  expect(seen()).toEqual(words);
}

function fits(lab: ChannelLab): void {
  for (const text of textsIn(lab)) expect(lab.limits.measure(text)).toBeLessThanOrEqual(lab.limits.text);
}

/** Long answers, and platforms that ask for a pause. */
export function deliveryTests({ checkAmongOthers }: Scene): void {
  checkAmongOthers([], "an answer of 10,000 characters comes whole and in order", async (lab) => {
    const words = numbered(10_000, (n) => `number${n}`);
    lab.gateway.model.answers(() => prose(words));
    await lab.say("count");
    await arrives(lab, words);
    fits(lab);
  });

  checkAmongOthers(["textLimit"], "a long answer is cut where the platform's measure says, not between the halves of a character", async (lab) => {
    const words = numbered(10_000, (n) => `число${n}🎉`);
    lab.gateway.model.answers(() => prose(words));
    await lab.say("count");
    await arrives(lab, words);
    fits(lab);
    expect(lab.received().length).toBeGreaterThanOrEqual(Math.ceil(lab.limits.measure(prose(words)) / lab.limits.text));
  });

  checkAmongOthers(["rateLimit"], "what the platform does not take yet comes later, once and in order", async (lab) => {
    await exchange(lab, "w-before");
    const words = numbered(Math.min(lab.limits.text * 2.5, 10_000), (n) => `number${n}`);
    lab.gateway.model.answers(({ user }) => (user.includes("count") ? prose(words) : undefined));
    lab.floodLimit!(1000);
    const before = textsIn(lab).length;
    await lab.say("count");
    const seen = (): readonly string[] =>
      textsIn(lab)
        .slice(before)
        .flatMap((text) => text.split(/\s+/).filter(Boolean));
    await until(
      () => seen().at(-1) === words.at(-1),
      () => `${seen().length} of ${words.length} words came`,
      25_000,
    );
    expect(seen()).toEqual(words);
    lab.floodLimit!(undefined);
    lab.gateway.model.answers(undefined);
    await exchange(lab, "w-after");
  });

  checkAmongOthers(["lostReceipt"], "an answer whose receipt is lost is repeated once at most, and the chat goes on", async (lab) => {
    await exchange(lab, "w-before");
    lab.loseReceipt!();
    await lab.say("and w-lost?");
    await hears(lab, "w-lost");
    await lab.say("and w-after?");
    await hearsAtLast(lab, "w-after");
    const texts = textsIn(lab);
    const copies = texts.filter((text) => text.includes("w-lost"));
    expect(copies.length).toBeGreaterThanOrEqual(1);
    expect(copies.length).toBeLessThanOrEqual(mostCopies(lab));
    expect([texts[0], texts.at(-1)]).toEqual(["Heard w-before.", "Heard w-after."]);
    expect(texts).toHaveLength(2 + copies.length);
    expect(lab.gateway.model.requests, "the model is not asked again").toHaveLength(3);
  });
}
