import { expect } from "vitest";
import type { Scene } from "../conformance.ts";
import { askedOf, exchange, hears, isUp, textsIn } from "./heard.ts";

/** Messages and their answers. */
export function conversationTests({ checkAmongOthers }: Scene): void {
  checkAmongOthers([], "a message is answered, once", async (lab) => {
    await exchange(lab, "w-apple");
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
    expect(lab.gateway.model.requests).toHaveLength(2);
    expect(lab.gateway.model.requests[1]!.body, "the conversation goes on").toContain("Heard w-apple.");
  });

  checkAmongOthers(["redelivery"], "a message that comes again is the same message", async (lab) => {
    const said = await lab.say("a w-apple");
    await hears(lab, "w-apple");
    await lab.redeliver!(said);
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
    expect(askedOf(lab, "w-apple")).toBe(1);
  });

  checkAmongOthers(["redelivery"], "a message that comes five times while it is being answered has one answer", async (lab) => {
    lab.gateway.model.pace(50);
    const said = await lab.say("a w-apple");
    for (const _ of [1, 2, 3, 4, 5]) await lab.redeliver!(said);
    await hears(lab, "Heard w-apple.");
    await lab.redeliver!(said);
    lab.gateway.model.pace(undefined);
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
    expect(askedOf(lab, "w-apple")).toBe(1);
  });

  checkAmongOthers(["redelivery"], "a message that comes again after a restart is the same message", async (lab) => {
    const said = await lab.say("a w-apple");
    await hears(lab, "w-apple");
    await lab.gateway.stop();
    await lab.gateway.start();
    await isUp(lab);
    await lab.redeliver!(said);
    await exchange(lab, "w-plum");
    expect(textsIn(lab).filter((text) => text.includes("w-apple"))).toEqual(["Heard w-apple."]);
    expect(askedOf(lab, "w-apple")).toBe(1);
  });

  checkAmongOthers(["edit"], "an edited message has no second answer, and the next turn knows of it", async (lab) => {
    const said = await lab.say("a w-apple");
    await hears(lab, "w-apple");
    await lab.edit!(said, "a w-pear, that is");
    await exchange(lab, "w-plum");
    expect(lab.gateway.model.requests).toHaveLength(2);
    expect(textsIn(lab)).toHaveLength(2);
    expect(lab.gateway.model.requests[1]!.body).toContain("w-pear");
  });

  checkAmongOthers(["reply"], "what a message answers is shown to the model", async (lab) => {
    const first = await exchange(lab, "w-apple");
    lab.gateway.model.answers(() => "Now w-plum it is.");
    await exchange(lab, "w-plum");
    await lab.say("what was this one?", { replyTo: first });
    await expect.poll(() => textsIn(lab)).toHaveLength(3);
    expect(lab.gateway.model.requests[2]!.user).toContain("Heard w-apple.");
  });

  checkAmongOthers(["reply"], "an answer names the message that it answers when the model wants that", async (lab) => {
    lab.gateway.model.answers(({ user }) => (user.includes("w-apple") ? "[[reply_to_current]] Heard w-apple." : undefined));
    const said = await lab.say("a w-apple");
    const received = await hears(lab, "w-apple");
    expect(received).toMatchObject({ text: "Heard w-apple.", replyTo: said.id });
  });

  checkAmongOthers(["thread"], "a message in a thread is answered there", async (lab) => {
    const inThread = { where: "thread" } as const;
    await exchange(lab, "w-apple", inThread);
    await exchange(lab, "w-pear");
    expect(textsIn(lab, inThread)).toEqual(["Heard w-apple."]);
    expect(textsIn(lab)).toEqual(["Heard w-pear."]);
    expect(textsIn(lab, { where: "group" })).toEqual([]);
  });

  checkAmongOthers(["reaction"], "a reaction has no answer", async (lab) => {
    await exchange(lab, "w-apple");
    await lab.react!("👍");
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toHaveLength(2);
    expect(lab.gateway.model.requests).toHaveLength(2);
  });

  checkAmongOthers(["button"], "a pressed button is answered as if its value had been written", async (lab) => {
    await exchange(lab, "w-apple");
    await lab.press!("w-pressed");
    await hears(lab, "w-pressed");
    expect(textsIn(lab)).toHaveLength(2);
  });

  checkAmongOthers([], "an answer that is silent on purpose is not seen", async (lab) => {
    lab.gateway.model.answers(({ user }) => (user.includes("w-quiet") ? "NO_REPLY" : undefined));
    await lab.say("a w-quiet word");
    await expect.poll(() => askedOf(lab, "w-quiet")).toBe(1);
    await exchange(lab, "w-apple");
    expect(textsIn(lab).filter((text) => text !== "")).toEqual(["Heard w-apple."]);
  });
}
