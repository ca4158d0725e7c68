import type { ChannelCapabilities } from "../../../src/protocol/index.ts";
import type { FakeServer } from "../../../src/plugin-testing/index.ts";
import type { LabGateway } from "./lab-gateway.ts";

/** `owner` is on every list, `stranger` on none. */
export type Who = "owner" | "stranger";
export type Where = "direct" | "group" | "thread";

/** A person in a chat of the lab. Default: the owner, directly. */
export interface Spot {
  readonly by?: Who;
  readonly where?: Where;
}

export interface LabFile {
  readonly name: string;
  readonly mime: string;
  readonly data: Buffer;
}

export interface SayOptions extends Spot {
  /** Names the bot as people do there. */
  readonly mention?: boolean;
  readonly replyTo?: Pick<Received, "id">;
  readonly file?: LabFile;
}

/** Something that a person said. */
export interface Said extends Spot {
  /** As the platform names it. */
  readonly id: string;
}

/** A message of the bot as the person sees it now. */
export interface Received {
  readonly id: string;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly file?: { readonly name: string; readonly data: Buffer } | undefined;
}

/** What a platform may not have. */
export const FEATURES = [
  "redelivery",
  "edit",
  "reaction",
  "button",
  "member",
  "reply",
  "group",
  /** Messages in groups that do not name the bot are seen. */
  "overhears",
  "thread",
  "mediaIn",
  "mediaStored",
  "mediaOut",
  "textLimit",
  "rateLimit",
  "lostReceipt",
  "reconnect",
  "missed",
  "account",
  "stranger",
  "pairing",
] as const;
export type Feature = (typeof FEATURES)[number];

/** Features that are not there, each with the reason. */
export type Lacks = Partial<Readonly<Record<Feature, string>>>;

/** What a channel claims of itself decides which of these may be missing, and must be. */
export const CLAIMS: Partial<Readonly<Record<Feature, (claims: ChannelCapabilities) => boolean>>> = {
  reaction: ({ reactions }) => reactions === true,
  group: ({ chatTypes }) => chatTypes.includes("group") || chatTypes.includes("channel"),
  thread: ({ threads, chatTypes }) => threads === true || chatTypes.includes("thread"),
  mediaOut: ({ media }) => media === true,
};

/**
 * Something else that people can do on a platform, beside what a lab has methods for. Its text, where it has one, is `w-deed`. The owner gets an answer of the
 * model, an answer of a command, or none.
 */
export interface Deed {
  readonly owner: "turn" | "command" | "nothing";
  /** Default: directly and in the group. */
  readonly where?: Where;
  act(spot: Required<Spot>): unknown;
}

export interface LabSettings {
  /** Who may write directly. Default `allowlist`, with the owner on it. */
  readonly access?: "allowlist" | "pairing";
  /** More keys of `channels.<id>`. */
  readonly channel?: Readonly<Record<string, unknown>>;
  /** The account begins with credentials that the platform refuses. */
  readonly credentials?: "wrong";
}

/**
 * What goes wrong with a platform. A lab offers what its platform can suffer, and names it to `channelConformance`. "Message" is one of the bot.
 */
export interface LabFaults {
  /** The platform takes the next message, and its answer to that is lost. */
  lostAnswer?(): void;
  /** The next message is answered with a 5xx, after it had its effect or without one. */
  serverError?(hadEffect: boolean): void;
  /** The next so many messages are refused, each with this wait. */
  tooMany?(waitMs: number, times: number): void;
  /** The next message has no effect and gets no answer; its connection stays open. */
  noAnswer?(): void;
  /** The next message has its effect, and its answer is none of the platform's, such as a page of a proxy. */
  garbageAnswer?(): void;
  /** Everything takes this much longer; undefined: as usual. */
  slow?(ms: number | undefined): void;
  /** The platform brings things that make no sense, several. */
  garbageEvents?(): Promise<void>;
  /** The owner writes these directly, and they arrive last first. */
  reorder?(texts: readonly string[]): Promise<void>;
  /** The credentials are refused from now on, also for what is connected. `mendCredentials` gives some that are right again. */
  revoke?(): Promise<void>;
  /** What is connected stays so and nothing comes over it any more. New connections work. */
  halfOpen?(): Promise<void>;
}

/** `killed`: the process of the gateway, between an event and its acknowledgement. It needs nothing of the lab. */
export type FaultName = keyof LabFaults | "killed";

/**
 * One channel with its platform and a gateway around it. What a lab lacks it must not have as a method, and the other way round. The group and
 * the thread are let in by the configuration; the group wants to be named, the thread does not.
 */
export interface ChannelLab extends AsyncDisposable {
  readonly channel: string;
  readonly capabilities: ChannelCapabilities;
  /** Of one message: what `measure` may give at most. */
  readonly limits: { readonly text: number; measure(text: string): number };
  readonly gateway: LabGateway;
  /** The platform takes a key with each message: one that is sent again is shown once. Default: it takes none, and a second copy may be seen. */
  readonly showsOnce?: boolean;
  /** By these the stranger would be known, wherever they stand: ids and names. */
  readonly strangerMarks: readonly string[];
  /** What must never be printed. */
  readonly secrets: readonly string[];
  say(text: string, options?: SayOptions): Promise<Said>;
  /** What the bot wrote there, oldest first, as it is seen now. */
  received(spot?: Spot): readonly Received[];
  /** Everything that the gateway ever asked of the platform, counted. */
  traffic(): number;
  /** The platform, where it is one over HTTP. */
  readonly server?: Pick<FakeServer, "url" | "asked">;
  /** The account is connected. A lab that was just made is, unless its credentials are wrong. */
  isUp(): Promise<boolean>;
  /** Connections of the account right now. */
  connections(): number;
  /** How often the platform saw two connections where one is allowed. */
  conflicts(): number;
  /** The platform brings the same message again. */
  redeliver?(said: Said): Promise<void>;
  edit?(said: Said, text: string): Promise<void>;
  /** Under the bot's last message there, or the person's own. */
  react?(emoji: string, spot?: Spot): Promise<void>;
  /** A button with this value, below a message of the bot. */
  press?(value: string, spot?: Spot): Promise<void>;
  /** The person comes into the group. */
  join?(spot: Spot): Promise<void>;
  /** Cuts what is connected; the platform stays reachable. */
  dropConnection?(): Promise<void>;
  /** The platform cannot be reached while `during` runs. */
  away?(during: () => Promise<void>): Promise<void>;
  /** The configuration with credentials that are right. */
  mendCredentials?(): Promise<void>;
  /** From now on the platform takes one message and then asks for a pause, until it is over; undefined lifts it. */
  floodLimit?(pauseMs: number | undefined): void;
  /** The platform takes the next message and its answer to that is lost. */
  loseReceipt?(): void;
  readonly faults?: LabFaults;
  /** By name. */
  readonly deeds?: Readonly<Record<string, Deed>>;
}

export type MakeLab = (settings: LabSettings) => Promise<ChannelLab>;
