/** signal-cli as a program of the account: started where nothing answers yet, awaited, and ended with the account. */
import { type AccountRun, type CursorStore, endLeftover, hopeless, notSent, type Program, startProgram } from "openclaw/plugin-sdk/channel-kit";
import type { ProgramSettings } from "./account.ts";
import { ACCOUNT_FIX } from "./api.ts";

export interface Daemon {
  /** Resolves when it answers. */
  ready(run: AccountRun): Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 150;
const MAX_LINES = 20;
const INSTALL_FIX = "install signal-cli or set channels.signal.cliPath, then run `openclaw channels restart signal`";

export interface DaemonDeps {
  check(signal: AbortSignal): Promise<void>;
  /** Which process was started last: it outlives a gateway that is killed. */
  readonly store: CursorStore<unknown>;
}

export function createDaemon(settings: ProgramSettings | undefined, { check, store }: DaemonDeps): Daemon {
  let program: Program | undefined;
  let isTidy = false;
  const answers = (signal: AbortSignal): Promise<boolean> =>
    check(signal).then(
      () => true,
      () => false,
    );

  async function start({ cliPath, args, startupMs }: ProgramSettings, run: AccountRun): Promise<void> {
    const { signal, waiting, log } = run;
    let lines: string[] = [];
    const onLine = (line: string): void => {
      if (line.trim() === "") return;
      lines = [...lines, line.trim()].slice(-MAX_LINES);
      log.debug?.(`signal-cli: ${line}`);
    };
    const started = await startProgram({ command: cliPath, args, onLine }).catch((error: unknown) => {
      throw (error as { permanent?: unknown }).permanent === true ? hopeless(`${(error as Error).message}; ${INSTALL_FIX}`, "NOT_FOUND") : error;
    });
    program = started;
    await store.save(started.identity);
    let code: number | null | undefined;
    void started.exited.then((exit) => {
      ({ code } = exit);
      if (program === started) program = undefined;
    });
    const end = waiting.now() + startupMs;
    while (!signal.aborted) {
      if (code !== undefined) {
        const last = lines.at(-1) ?? "no output";
        if (lines.some((line) => /not registered/i.test(line))) throw hopeless(`signal-cli: ${last}; ${ACCOUNT_FIX}`);
        throw notSent("start", `signal-cli exited with code ${code} before it responded: ${last}`);
      }
      if (await answers(signal)) return log.info(`signal-cli runs (process ${started.pid})`);
      if (waiting.now() > end) {
        await started.stop();
        throw notSent("start", `signal-cli did not answer within ${startupMs} ms; raise channels.signal.startupTimeoutMs`);
      }
      await waiting.sleep(POLL_MS, signal);
    }
  }

  /** What a gateway before this one left behind may be for another account, or have other flags. */
  async function tidy({ log }: AccountRun): Promise<void> {
    if (isTidy) return;
    isTidy = true;
    if (await endLeftover(await store.load())) log.info("stopped a signal-cli that was left running");
  }

  return {
    async ready(run) {
      if (!settings) return;
      await tidy(run);
      if (await answers(run.signal)) return;
      await program?.stop();
      if (!run.signal.aborted) await start(settings, run);
    },
    async stop() {
      if (!program) return;
      await program.stop();
      await store.save(undefined);
    },
  };
}
