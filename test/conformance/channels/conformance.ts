import { afterAll, describe, expect, test } from "vitest";
import { CLAIMS, FEATURES, type ChannelLab, type FaultName, type Feature, type Lacks, type LabSettings, type MakeLab } from "./lab.ts";
import { accessTests } from "./suite/access.ts";
import { connectionTests } from "./suite/connection.ts";
import { conversationTests } from "./suite/conversation.ts";
import { deliveryTests } from "./suite/delivery.ts";
import { faultTests } from "./suite/faults.ts";
import { mediaTests } from "./suite/media.ts";
import { freshView, tidy } from "./view.ts";

/** Defines tests for what a channel has. */
export interface Scene {
  check(title: string, body: (lab: ChannelLab) => Promise<void>, settings?: LabSettings, timeoutMs?: number): void;
  /** Only where the platform has all of it. */
  checkWith(features: Feature | readonly Feature[], title: string, body: (lab: ChannelLab) => Promise<void>, settings?: LabSettings): void;
  /**
   * Like `checkWith`, in one lab with all tests that are defined so. Each sees only what is said and asked from its beginning on, and leaves the account
   * connected.
   */
  checkAmongOthers(features: readonly Feature[], title: string, body: (lab: ChannelLab) => Promise<void>, timeoutMs?: number): void;
}

/** A person may write thirty messages at once, and one more each second. No channel takes this pause for a dead connection. */
const MOST_WRITTEN = 10;
const PAUSE_MS = 12_000;
const SETTLE_ROUNDS = 40;
const SETTLE_STEP_MS = 250;

/** Which methods of a lab stand for a feature. */
const METHODS: Partial<Readonly<Record<Feature, readonly (keyof ChannelLab)[]>>> = {
  redelivery: ["redeliver"],
  edit: ["edit"],
  reaction: ["react"],
  button: ["press"],
  member: ["join"],
  rateLimit: ["floodLimit"],
  lostReceipt: ["loseReceipt"],
  reconnect: ["dropConnection"],
  missed: ["away"],
  account: ["mendCredentials"],
};

/**
 * The tests that every channel passes, over the real gateway: from what a person does on the platform to what they see there. What the platform
 * does not have is listed in `lacks` with its reason and held against what the channel claims: a test is never left out otherwise. `faults` are those
 * that the lab can bring about.
 */
export function channelConformance(name: string, make: MakeLab, lacks: Lacks = {}, faults: readonly FaultName[] = []): void {
  const shared = createSharedLab(make);
  const scene: Scene = {
    check(title, body, settings = {}, timeoutMs = 60_000) {
      // The rule reads parameters as anything but texts.
      // oxlint-disable-next-line vitest/valid-title
      test(title, { timeout: timeoutMs }, async () => {
        await using lab = await make(settings);
        await body(lab);
      });
    },
    checkWith(features, title, body, settings) {
      if ([features].flat().every((feature) => lacks[feature] === undefined)) scene.check(title, body, settings);
    },
    checkAmongOthers(features, title, body, timeoutMs = 60_000) {
      if (features.some((feature) => lacks[feature] !== undefined)) return;
      // oxlint-disable-next-line vitest/valid-title
      test(title, { timeout: timeoutMs }, () => shared.use(body));
    },
  };
  describe(`the channel ${name}`, () => {
    afterAll(() => shared.close());
    exceptions(scene, lacks, faults);
    conversationTests(scene);
    mediaTests(scene);
    deliveryTests(scene);
    connectionTests(scene);
    accessTests(scene);
    faultTests(scene, faults);
  });
}

/** Whether everything that the test before caused has come: it would be seen in the next one. */
async function isSettled({ gateway }: ChannelLab): Promise<boolean> {
  for (let round = 0; round < SETTLE_ROUNDS && !gateway.isDelivered(); round += 1) await gateway.skip(SETTLE_STEP_MS);
  return gateway.isDelivered();
}

/** One lab for many tests, made when it is first used and after each test that failed. */
function createSharedLab(make: MakeLab) {
  let open: ChannelLab | undefined;
  let written = 0;
  async function close(): Promise<void> {
    const closing = open;
    open = undefined;
    await closing?.[Symbol.asyncDispose]();
  }
  return {
    close,
    async use(body: (lab: ChannelLab) => Promise<void>): Promise<void> {
      if (open && !(await isSettled(open))) await close();
      const lab = (open ??= await make({}));
      try {
        if (written >= MOST_WRITTEN) {
          written = 0;
          await lab.gateway.skip(PAUSE_MS);
        }
        await body(freshView(lab, () => (written += 1)));
        tidy(lab);
      } catch (error) {
        // What a failed one left behind is not for the others to see.
        await close();
        throw error;
      }
    },
  };
}

function exceptions({ checkAmongOthers }: Scene, lacks: Lacks, faults: readonly FaultName[]): void {
  checkAmongOthers([], "what it lacks is what it does not claim, and the lab offers the rest", (lab) => {
    for (const feature of FEATURES) {
      const why = lacks[feature];
      expect(
        CLAIMS[feature]?.(lab.capabilities) ?? why === undefined,
        `${feature}: the channel claims otherwise than the lab's "${why ?? "(not listed)"}"`,
      ).toBe(why === undefined);
      for (const method of METHODS[feature] ?? []) expect(lab[method] !== undefined, `${String(method)} of the lab, for ${feature}`).toBe(why === undefined);
    }
    expect(Object.keys(lab.faults ?? {}).toSorted(), "faults of the lab").toEqual(faults.filter((fault) => fault !== "killed").toSorted());
    return Promise.resolve();
  });
  test.each(Object.entries(lacks))("has no %s: %s", (_feature, why) => {
    expect(why.length, "a reason").toBeGreaterThan(10);
  });
}
