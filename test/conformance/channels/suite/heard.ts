import { until } from "../../../harness/until.ts";
import type { ChannelLab, Received, Spot } from "../lab.ts";

export { until };

/** What is seen in a spot, text by text. */
export const textsIn = (lab: ChannelLab, spot?: Spot): readonly string[] => lab.received(spot).map(({ text }) => text);

/** Waits until something that was written there says the word. */
export async function hears(lab: ChannelLab, word: string, spot?: Spot): Promise<Received> {
  const find = (): Received | undefined => lab.received(spot).find(({ text }) => text.includes(word));
  const failure = (): string => `${word} was not heard; seen: ${JSON.stringify(textsIn(lab, spot)).slice(0, 500)}; log:\n${lab.gateway.output().slice(-2000)}`;
  await until(() => find() !== undefined, failure);
  return find()!;
}

/** Of an answer whose receipt was lost. */
export const mostCopies = ({ showsOnce }: ChannelLab): number => (showsOnce === true ? 1 : 2);

/** Says something and waits for its answer: whatever came before it in the chat was dealt with by then. */
export async function exchange(lab: ChannelLab, word: string, spot: Spot & { readonly mention?: boolean } = {}): Promise<Received> {
  await lab.say(`and ${word}?`, spot);
  return hears(lab, word, spot);
}

/** Like `exchange`, and waits until the gateway knows that the answer went out: a connection that breaks before leaves it to be sent again, marked. */
export async function exchangeToEnd(lab: ChannelLab, word: string): Promise<void> {
  await exchange(lab, word);
  await until(
    () => lab.gateway.isDelivered(),
    () => `${lab.channel} does not know what became of ${word}\n${lab.gateway.output().slice(-2000)}`,
  );
}

/** Like `hears`, for what comes after a pause of the gateway: its time passes quickly, by `stepMs` for each look. Requests still have most of a second. */
export async function hearsAtLast(lab: ChannelLab, word: string, stepMs = 250): Promise<void> {
  const isHeard = (): boolean => lab.received().some(({ text }) => text.includes(word));
  await until(
    async () => {
      if (!isHeard()) await lab.gateway.skip(stepMs);
      return isHeard();
    },
    () => `${word} was not heard; seen: ${JSON.stringify(textsIn(lab)).slice(0, 500)}; log:\n${lab.gateway.output().slice(-2000)}`,
    40_000,
  );
}

/** Requests to the model that carry a word. */
export const askedOf = (lab: ChannelLab, word: string): number => lab.gateway.model.requests.filter(({ user }) => user.includes(word)).length;

/** Waits until the account is connected. The pauses between attempts pass quickly. */
export async function isUp(lab: ChannelLab): Promise<void> {
  await until(
    async () => {
      const isSo = await lab.isUp();
      if (!isSo) await lab.gateway.skip(100);
      return isSo;
    },
    () => `${lab.channel} did not come up\n${lab.gateway.output().slice(-2000)}`,
  );
}

/** Waits until the account has ended. */
export async function isDown(lab: ChannelLab): Promise<void> {
  let last: unknown;
  await until(
    async () => {
      const account = await lab.gateway.account(lab.channel);
      last = account;
      // One that has not begun does not run either.
      const { health } = (account ?? {}) as { readonly health?: { readonly state: string } };
      return account === undefined || (account.running === false && health?.state !== "starting");
    },
    () => `${lab.channel} did not go down: ${JSON.stringify(last)}\n${lab.gateway.output().slice(-2000)}`,
  );
}
