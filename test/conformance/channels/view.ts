import type { ChannelLab, Spot, Where, Who } from "./lab.ts";
import type { LabGateway } from "./lab-gateway.ts";
import type { LabModel } from "./lab-model.ts";

const SPOTS: readonly Required<Spot>[] = (["owner", "stranger"] satisfies Who[]).flatMap((by) =>
  (["direct", "group", "thread"] satisfies Where[]).map((where) => ({ by, where })),
);

/** Some platforms count the messages of each chat. */
const nameOf = ({ by = "owner", where = "direct" }: Spot, id: string): string => `${by} ${where} ${id}`;

/** The same object with some members replaced; the others stay live. */
function withMembers<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, { get: (real, key) => Reflect.get(key in members ? members : real, key) as unknown });
}

/** A lab as if it had just been made: what was said, asked and stored before is not seen. `onWritten` is called for each message and pressed button. */
export function freshView(lab: ChannelLab, onWritten: () => void): ChannelLab {
  const { model } = lab.gateway;
  const asked = model.requests.length;
  const before = new Set(SPOTS.flatMap((spot) => lab.received(spot).map(({ id }) => nameOf(spot, id))));
  const stored = new Set(lab.gateway.storedMedia().map(({ path }) => path));
  const freshModel = withMembers<LabModel>(model, {
    get requests() {
      return model.requests.slice(asked);
    },
  });
  const gateway = withMembers<LabGateway>(lab.gateway, {
    model: freshModel,
    storedMedia: () => lab.gateway.storedMedia().filter(({ path }) => !stored.has(path)),
  });
  return withMembers<ChannelLab>(lab, {
    gateway,
    received: (spot = {}) => lab.received(spot).filter(({ id }) => !before.has(nameOf(spot, id))),
    say(text, options) {
      onWritten();
      return lab.say(text, options);
    },
    ...(lab.press && {
      press(value, spot) {
        onWritten();
        return lab.press!(value, spot);
      },
    }),
  });
}

/** The model and the platform as they were in the beginning. */
export function tidy(lab: ChannelLab): void {
  const { model } = lab.gateway;
  model.answers(undefined);
  model.holds(undefined);
  model.thinks(undefined);
  model.pace(undefined);
  lab.floodLimit?.(undefined);
}
