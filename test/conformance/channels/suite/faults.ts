import { expect } from "vitest";
import type { ChannelLab, FaultName, LabFaults } from "../lab.ts";
import type { Scene } from "../conformance.ts";
import { askedOf, exchange, exchangeToEnd, hears, hearsAtLast, isDown, isUp, mostCopies, textsIn } from "./heard.ts";

/** For what takes a timeout of the channel, which is never less than ten seconds. */
const LONG_STEP_MS = 1000;

const copiesOf = (lab: ChannelLab, word: string): number => textsIn(lab).filter((text) => text.includes(word)).length;

/** Something goes wrong with an answer: it comes all the same, so many times at most, and the chat goes on. */
async function survives(lab: ChannelLab, most: number, fault: (faults: LabFaults) => void, stepMs?: number): Promise<void> {
  await exchangeToEnd(lab, "w-before");
  fault(lab.faults!);
  await lab.say("and w-faulty?");
  await hearsAtLast(lab, "w-faulty", stepMs);
  // Where a connection broke with it, what is said before the next one may be lost.
  await isUp(lab);
  await lab.say("and w-after?");
  await hearsAtLast(lab, "w-after");
  const texts = textsIn(lab);
  expect([texts[0], texts.at(-1)]).toEqual(["Heard w-before.", "Heard w-after."]);
  expect(copiesOf(lab, "w-faulty")).toBeLessThanOrEqual(most);
  expect(texts).toHaveLength(2 + copiesOf(lab, "w-faulty"));
  expect(lab.gateway.model.requests, "the model is not asked again").toHaveLength(3);
  expect(lab.conflicts()).toBe(0);
}

/** What a platform may suffer, and what becomes of the bot's messages and of those to it. */
export function faultTests(scene: Scene, faults: readonly FaultName[]): void {
  const check = (fault: FaultName, title: string, body: (lab: ChannelLab) => Promise<void>): void => {
    if (faults.includes(fault)) scene.checkAmongOthers([], title, body);
  };

  check("lostAnswer", "fault: an answer that arrived without a receipt is repeated once at most, and shown once where its platform takes a key", (lab) =>
    survives(lab, mostCopies(lab), ({ lostAnswer }) => lostAnswer!()),
  );
  check("serverError", "fault: an answer that a broken server did not take comes once", (lab) => survives(lab, 1, ({ serverError }) => serverError!(false)));
  check("serverError", "fault: an answer that a broken server took is repeated once at most", (lab) =>
    survives(lab, mostCopies(lab), ({ serverError }) => serverError!(true)),
  );
  check("garbageAnswer", "fault: an answer whose receipt makes no sense is repeated once at most", (lab) =>
    survives(lab, mostCopies(lab), (of) => of.garbageAnswer!()),
  );
  check("noAnswer", "fault: an answer that the platform is silent about comes once", (lab) => survives(lab, 1, ({ noAnswer }) => noAnswer!(), LONG_STEP_MS));

  check("tooMany", "fault: an answer that comes too early waits as long as the platform asks, and comes once", async (lab) => {
    await exchangeToEnd(lab, "w-before");
    lab.faults!.tooMany!(1000, 2);
    const [began, asked] = [performance.now(), lab.traffic()];
    await exchange(lab, "w-faulty");
    expect(performance.now() - began).toBeGreaterThanOrEqual(2000);
    expect(lab.traffic() - asked, "it does not ask in between").toBeLessThanOrEqual(12);
    await exchange(lab, "w-after");
    expect(textsIn(lab)).toEqual(["Heard w-before.", "Heard w-faulty.", "Heard w-after."]);
  });

  check("slow", "fault: a slow platform is written to in order, once", async (lab) => {
    lab.faults!.slow!(300);
    await exchange(lab, "w-apple");
    await exchange(lab, "w-plum");
    lab.faults!.slow!(undefined);
    await exchange(lab, "w-pear");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum.", "Heard w-pear."]);
    expect(lab.conflicts()).toBe(0);
  });

  check("garbageEvents", "fault: what makes no sense starts nothing, and what comes behind it is answered", async (lab) => {
    await exchange(lab, "w-apple");
    await lab.faults!.garbageEvents!();
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
    expect(lab.gateway.model.requests).toHaveLength(2);
    expect(await lab.isUp()).toBe(true);
  });

  check("reorder", "fault: messages that come in another order are all answered, each once", async (lab) => {
    await exchange(lab, "w-before");
    await lab.faults!.reorder!(["first w-one", "then w-two", "then w-three"]);
    for (const word of ["w-one", "w-two", "w-three"]) await hears(lab, word);
    await exchange(lab, "w-after");
    for (const word of ["w-one", "w-two", "w-three"]) expect([word, copiesOf(lab, word), askedOf(lab, word)]).toEqual([word, 1, 1]);
  });

  check("revoke", "fault: credentials that are withdrawn end the account with the reason, once, until they are mended", async (lab) => {
    await exchangeToEnd(lab, "w-apple");
    await lab.faults!.revoke!();
    await isDown(lab);
    const account = await lab.gateway.account(lab.channel);
    expect(account?.lastError, JSON.stringify(account)).toMatch(/\S/);
    expect((account as { readonly health?: { readonly state: string } } | undefined)?.health?.state).toBe("down");
    const before = lab.traffic();
    await lab.gateway.aside();
    expect(lab.traffic(), "nothing is tried again").toBe(before);
    const visible = `${lab.gateway.output()}${JSON.stringify(account)}`;
    for (const secret of lab.secrets) expect(visible).not.toContain(secret);
    await lab.mendCredentials!();
    await isUp(lab);
    await exchange(lab, "w-plum");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum."]);
  });

  check("halfOpen", "fault: a connection that nothing comes over any more is noticed and made again", async (lab) => {
    await exchangeToEnd(lab, "w-apple");
    await lab.faults!.halfOpen!();
    await lab.say("and w-plum?");
    await hearsAtLast(lab, "w-plum", LONG_STEP_MS);
    await exchange(lab, "w-pear");
    expect(textsIn(lab)).toEqual(["Heard w-apple.", "Heard w-plum.", "Heard w-pear."]);
    if (lab.connections() <= 1) return;
    // The platform notices the dead one as well.
    await lab.dropConnection!();
    await isUp(lab);
  });

  check("killed", "fault: a message that was not acknowledged when the process was killed is answered after it starts again", async (lab) => {
    await exchange(lab, "w-before");
    await lab.say("and w-faulty?");
    await lab.gateway.kill();
    await lab.gateway.start();
    await hears(lab, "w-faulty");
    await exchange(lab, "w-after");
    expect(copiesOf(lab, "w-faulty")).toBeLessThanOrEqual(mostCopies(lab));
    expect(textsIn(lab).at(-1)).toBe("Heard w-after.");
  });
}
