import { expect } from "vitest";
import type { ChannelLab, Deed, Feature, Spot, Where } from "../lab.ts";
import type { Scene } from "../conformance.ts";
import { exchange, hears, textsIn, until } from "./heard.ts";

/** Nothing of the stranger stands in anything that the model was ever asked. */
function knowsNothing(lab: ChannelLab): void {
  for (const { body } of lab.gateway.model.requests) {
    expect(body).not.toContain("w-bad");
    for (const mark of lab.strangerMarks) expect(body).not.toContain(mark);
  }
}

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** Everything that can happen on a platform, done by the stranger. */
const DEEDS: readonly {
  readonly kind: string;
  readonly needs: readonly Feature[];
  readonly places: readonly Where[];
  readonly act: (lab: ChannelLab, where: Where) => Promise<unknown>;
}[] = [
  {
    kind: "message",
    needs: [],
    places: ["direct", "group", "thread"],
    act: (lab, where) => lab.say("w-bad", { by: "stranger", where, mention: where !== "direct" }),
  },
  { kind: "command", needs: [], places: ["direct", "group"], act: (lab, where) => lab.say("/status", { by: "stranger", where, mention: where !== "direct" }) },
  {
    kind: "file",
    needs: ["mediaStored"],
    places: ["direct", "group"],
    act: (lab, where) => lab.say("w-bad", { by: "stranger", where, mention: where !== "direct", file: { name: "bad.png", mime: "image/png", data: PNG } }),
  },
  {
    kind: "edit",
    needs: ["edit"],
    places: ["direct", "group"],
    act: async (lab, where) => lab.edit!(await lab.say("hello", { by: "stranger", where }), "w-bad"),
  },
  { kind: "reaction", needs: ["reaction"], places: ["direct", "group"], act: (lab, where) => lab.react!("👎", { by: "stranger", where }) },
  { kind: "button", needs: ["button"], places: ["direct", "group"], act: (lab, where) => lab.press!("w-bad", { by: "stranger", where }) },
  { kind: "member", needs: ["member"], places: ["group"], act: (lab) => lab.join!({ by: "stranger", where: "group" }) },
];
const PLACE_NEEDS: Readonly<Record<Where, readonly Feature[]>> = { direct: [], group: ["group"], thread: ["thread"] };

/** Each of a lab's deeds with the chats that it is done in. */
function deedsOf(lab: ChannelLab): readonly (readonly [string, Deed, Where])[] {
  const places: readonly Where[] = lab.capabilities.chatTypes.some((type) => type !== "direct") ? ["direct", "group"] : ["direct"];
  return Object.entries(lab.deeds ?? {}).flatMap(([name, deed]) => (deed.where ? [deed.where] : places).map((where) => [name, deed, where] as const));
}

const mentioned = (where: Where): Spot & { readonly mention: boolean } => ({ where, mention: where !== "direct" });

/** Done by the owner, each has what it is documented to have: the same deeds of a stranger have nothing because of who they are. */
async function ownerGets(lab: ChannelLab, name: string, { owner, act }: Deed, where: Where, after: string): Promise<void> {
  const asked = (): number => lab.gateway.model.requests.length;
  const [before, seen] = [asked(), lab.received({ where }).length];
  await act({ by: "owner", where });
  if (owner === "turn") await expect.poll(asked, { message: `${name} (${where}) starts a turn` }).toBe(before + 1);
  if (owner === "command") await expect.poll(() => lab.received({ where }).length, { message: `${name} (${where}) is answered` }).toBe(seen + 1);
  await exchange(lab, after, mentioned(where));
  expect([name, where, asked() - before]).toEqual([name, where, owner === "turn" ? 2 : 1]);
}

/** Who is let in, and what becomes of the rest. */
export function accessTests({ checkWith, checkAmongOthers }: Scene): void {
  for (const { kind, needs, places, act } of DEEDS) {
    for (const where of places) {
      checkAmongOthers(["stranger", ...needs, ...PLACE_NEEDS[where]], `a stranger's ${kind} (${where}) reaches no model and has no answer`, async (lab) => {
        const there = { where, mention: where !== "direct" } as const;
        const [before, after] = [`w-${kind}${where}before`, `w-${kind}${where}after`];
        await exchange(lab, before, there);
        await act(lab, where);
        await exchange(lab, after, there);
        expect(lab.gateway.model.requests).toHaveLength(2);
        knowsNothing(lab);
        expect(lab.gateway.storedMedia()).toEqual([]);
        expect(textsIn(lab, { where })).toEqual([`Heard ${before}.`, `Heard ${after}.`]);
        if (where === "direct") expect(textsIn(lab, { by: "stranger" })).toEqual([]);
      });
    }
  }

  checkAmongOthers(["stranger"], "whatever else can happen there reaches no model from a stranger, and is handled from the owner", async (lab) => {
    for (const [, { act }, where] of deedsOf(lab)) await act({ by: "stranger", where });
    const words = [...new Set<Where>(["direct", ...deedsOf(lab).map(([, , where]) => where)])];
    for (const where of words) await exchange(lab, `w-${where}after`, mentioned(where));
    expect(lab.gateway.model.requests).toHaveLength(words.length);
    for (const { body } of lab.gateway.model.requests) expect(body).not.toContain("w-deed");
    knowsNothing(lab);
    expect(lab.gateway.storedMedia()).toEqual([]);
    expect(textsIn(lab, { by: "stranger" })).toEqual([]);
    for (const [at, [name, deed, where]] of deedsOf(lab).entries()) await ownerGets(lab, name, deed, where, `w-after${10 + at}`);
  });

  checkAmongOthers([], "a command of the owner is answered without a model", async (lab) => {
    await lab.say("/status");
    await expect.poll(() => lab.received().length).toBeGreaterThan(0);
    expect(lab.gateway.model.requests).toEqual([]);
  });

  checkWith(
    ["stranger", "pairing"],
    "a stranger gets a code once, and is let in when it is approved, once",
    async (lab) => {
      const stranger = { by: "stranger" } as const;
      await lab.say("w-bad, let me in", stranger);
      await until(
        () => lab.received(stranger).length > 0,
        () => `no code came\n${lab.gateway.output().slice(-2000)}`,
      );
      await lab.say("hello?", stranger);
      for (const [, { act }, where] of deedsOf(lab)) await act({ by: "stranger", where });
      await exchange(lab, "w-owner");
      expect(lab.gateway.model.requests).toHaveLength(1);
      const texts = textsIn(lab, stranger);
      expect(texts).toHaveLength(1);
      const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(texts[0]!)?.[0];
      expect(code, texts[0]).toBeDefined();
      knowsNothing(lab);
      expect((await lab.gateway.cli("pairing", "approve", lab.channel, "AAAAAAAA")).code).not.toBe(0);
      const approved = await lab.gateway.cli("pairing", "approve", lab.channel, code!);
      expect(approved.code, approved.output).toBe(0);
      expect((await lab.gateway.cli("pairing", "approve", lab.channel, code!)).code, "a code is good for one time").not.toBe(0);
      await lab.say("and now w-good?", stranger);
      await hears(lab, "w-good", stranger);
      expect(
        textsIn(lab, stranger).filter((text) => text.includes("w-bad")),
        "what was refused stays refused",
      ).toEqual([]);
    },
    { access: "pairing" },
  );

  checkAmongOthers(["group", "overhears"], "a group is answered when the bot is named, with what was said before", async (lab) => {
    const group = { where: "group" } as const;
    await lab.say("let us meet at w-noon", group);
    await lab.say("bring w-bread", group);
    await lab.say("when do we meet? w-asked", { ...group, mention: true });
    await hears(lab, "w-asked", group);
    expect(lab.received(group)).toHaveLength(1);
    const asked = lab.gateway.model.requests;
    expect(asked).toHaveLength(1);
    const { user } = asked[0]!;
    expect([user.indexOf("w-noon") >= 0, user.indexOf("w-noon") < user.indexOf("w-bread"), user.indexOf("w-bread") < user.indexOf("w-asked")]).toEqual([
      true,
      true,
      true,
    ]);
    expect(lab.received(), "nobody is notified elsewhere").toEqual([]);
    await exchange(lab, "w-again", { ...group, mention: true });
    expect(lab.gateway.model.requests[1]!.user, "mentioned once").not.toContain("w-noon");
  });
}
