import { checksFor, type AnyFunction } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { MediaProviderRegistration, MediaSlot } from "./kinds.ts";
import { bindParts } from "./parts.ts";
import type { Table } from "./table.ts";

/** Members of the API that register providers of media, with what each is for. */
export const MEDIA_SLOTS = {
  registerSpeechProvider: "speech",
  registerRealtimeTranscriptionProvider: "realtimeTranscription",
  registerRealtimeVoiceProvider: "realtimeVoice",
  registerMediaUnderstandingProvider: "mediaUnderstanding",
  registerImageGenerationProvider: "imageGeneration",
  registerVideoGenerationProvider: "videoGeneration",
  registerMusicGenerationProvider: "musicGeneration",
} as const satisfies Readonly<Record<string, MediaSlot>>;

/** What this version asks; the others are registered and listed. */
const ASKED: readonly MediaSlot[] = ["mediaUnderstanding", "imageGeneration"];

type Member = (provider: unknown) => void;

/** `api.register…Provider` of every slot. */
export function mediaProviderMembers(
  { ledger, scope, tell }: Binding,
  table: Table<MediaProviderRegistration>,
): Readonly<Record<keyof typeof MEDIA_SLOTS, Member>> {
  const member = (name: string, slot: MediaSlot): Member => {
    return (given) => {
      const checks = checksFor(`api.${name}`);
      const provider = checks.fields("provider", given);
      const id = checks.text("provider.id", provider["id"], 128);
      const key = `${slot}/${id}`;
      const value: MediaProviderRegistration = { slot, id, provider: bindParts(scope, provider, `${slot} provider ${id}`) };
      if (!ASKED.includes(slot)) tell("warn", "provider-not-asked", `the provider ${key} is registered and listed; this version does not call it`);
      ledger.enter({ kind: "media provider", name: key, apply: () => table.add(key, ledger.owner, value) });
    };
  };
  return Object.fromEntries(Object.entries(MEDIA_SLOTS).map(([name, slot]) => [name, member(name, slot)])) as Readonly<
    Record<keyof typeof MEDIA_SLOTS, Member>
  >;
}

/** A provider that describes pictures or films, as the configuration names it. */
export interface MediaDescriber {
  readonly id: string;
  readonly describeImage?: AnyFunction;
  readonly describeVideo?: AnyFunction;
}

/** Those that plugins brought. */
export function mediaDescribers(
  registries: { readonly mediaProviders: Pick<Table<MediaProviderRegistration>, "list"> } | undefined,
): readonly MediaDescriber[] {
  return (registries?.mediaProviders.list() ?? []).flatMap(({ value: { slot, id, provider } }) => {
    if (slot !== "mediaUnderstanding") return [];
    const { describeImage, describeVideo } = provider;
    return [
      {
        id,
        ...(typeof describeImage === "function" ? { describeImage: describeImage as AnyFunction } : {}),
        ...(typeof describeVideo === "function" ? { describeVideo: describeVideo as AnyFunction } : {}),
      },
    ];
  });
}

/** A provider that makes pictures, as the configuration names it. */
export interface ImageMaker {
  readonly id: string;
  readonly generateImage: AnyFunction;
}

/** Those that plugins brought. */
export function imageMakers(registries: { readonly mediaProviders: Pick<Table<MediaProviderRegistration>, "list"> } | undefined): readonly ImageMaker[] {
  return (registries?.mediaProviders.list() ?? []).flatMap(({ value: { slot, id, provider } }) => {
    const make = provider["generateImage"] ?? provider["generate"];
    return slot === "imageGeneration" && typeof make === "function" ? [{ id, generateImage: make as AnyFunction }] : [];
  });
}
