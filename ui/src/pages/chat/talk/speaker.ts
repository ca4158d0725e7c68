/** Speaks texts one after the other. Each is fetched while the one before it is heard. */
export interface Speaker {
  say(text: string): void;
  /** Silence at once: what is heard, and what would be. */
  stop(): void;
  /** Something is heard, or will be. */
  readonly busy: boolean;
}

/** A sound that is heard. */
export interface Playing {
  readonly ended: Promise<void>;
  stop(): void;
}

export interface SpeakerOptions {
  /** The sound of a text; undefined: there is nothing to be heard. */
  fetch(text: string, signal: AbortSignal): Promise<ArrayBuffer | undefined>;
  play(sound: ArrayBuffer): Promise<Playing>;
  /** It begins or ends to be busy. */
  changed(): void;
  /** Once for each stretch of speech. */
  failed(error: unknown): void;
}

/** Sounds that are fetched ahead. */
const AHEAD = 2;

export function createSpeaker({ fetch, play, changed, failed }: SpeakerOptions): Speaker {
  let texts: string[] = [];
  let sounds: Promise<ArrayBuffer | undefined>[] = [];
  let playing: Playing | undefined;
  let abort = new AbortController();
  let isRunning = false;

  function ahead(): void {
    while (sounds.length < AHEAD && texts.length > 0) {
      const sound = fetch(texts.shift()!, abort.signal);
      // Looked at when its turn has come.
      sound.catch(() => undefined);
      sounds.push(sound);
    }
  }

  async function run({ signal }: AbortController): Promise<void> {
    let hasFailed = false;
    for (ahead(); sounds.length > 0 && !signal.aborted; ahead()) {
      try {
        const sound = await sounds.shift()!;
        ahead();
        if (signal.aborted || !sound) continue;
        playing = await play(sound);
        if (signal.aborted) playing.stop();
        await playing.ended;
      } catch (error) {
        if (!signal.aborted && !hasFailed) failed(error);
        hasFailed = true;
      }
    }
  }

  function begin(): void {
    if (isRunning) return ahead();
    isRunning = true;
    changed();
    const current = abort;
    void run(current).then(() => {
      if (current !== abort) return;
      isRunning = false;
      playing = undefined;
      changed();
    });
  }

  return {
    say(text) {
      texts.push(text);
      begin();
    },
    stop() {
      texts = [];
      sounds = [];
      abort.abort();
      abort = new AbortController();
      playing?.stop();
      playing = undefined;
      if (!isRunning) return;
      isRunning = false;
      changed();
    },
    get busy() {
      return isRunning;
    },
  };
}
