/** Linking a number with a person at the terminal. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { type ChannelOnboardingSpec, type ChannelParts, ChannelError, createOnboarding } from "openclaw/plugin-sdk/channel-kit";
import type { WhatsAppAccount } from "./account.ts";
import { numberOf } from "./address.ts";
import type { WhatsAppProbe } from "./channel.ts";
import { isLinked, readSelf } from "./credentials/files.ts";
import { CODE_HINT, finishLogin, type LoginDeps, SCAN_HINT, startLogin } from "./login.ts";
import { qrText } from "./qr.ts";

type Onboarding = NonNullable<ChannelPlugin["onboarding"]>;
type SignIn = NonNullable<NonNullable<ChannelPlugin["auth"]>["login"]>;
type Show = (text: string) => void | Promise<void>;

const failed = (message: string): ChannelError => new ChannelError(message, { action: "login", delivery: { state: "failed" }, code: "LOGIN_FAILED" });

/** Shows the picture, or the code, until the phone has answered; then connects once. */
export async function link(account: WhatsAppAccount, deps: LoginDeps, show: Show, phoneNumber?: string): Promise<string> {
  let shown: Promise<unknown> = Promise.resolve();
  const login = await startLogin(account, deps, {
    phoneNumber,
    // A new picture every 20 seconds: the one before is not valid any more.
    onQr: (text) => void (shown = shown.then(async () => show(`${await qrText(text)}\n${SCAN_HINT}`))),
  });
  // Without a code, how the login ended says why.
  const code = phoneNumber === undefined ? undefined : await login.first.catch(() => undefined);
  if (code !== undefined) await show(`${CODE_HINT}: ${code}`);
  const { connected, message } = await login.done;
  await shown;
  if (!connected) throw failed(message);
  await finishLogin(account, deps);
  return message;
}

/** `openclaw channels login`. */
export async function signIn(account: WhatsAppAccount, deps: LoginDeps, { runtime, phoneNumber }: Parameters<SignIn>[0]): Promise<void> {
  if (isLinked(account.authDir)) {
    const number = numberOf((await readSelf(account.authDir))?.id);
    runtime.log(`This account is linked${number === undefined ? "" : ` as ${number}`}. It stays linked until the phone has accepted the new login.`);
  }
  const digits = phoneNumber?.replaceAll(/\D/g, "");
  const message = await link(account, deps, (text) => runtime.log(text), digits || undefined);
  runtime.log(`${message} To connect a running gateway: openclaw channels start --channel whatsapp --account ${account.accountId}`);
}

export function createOnboardingFor(
  spec: ChannelOnboardingSpec<WhatsAppAccount, WhatsAppProbe>,
  parts: ChannelParts<WhatsAppAccount, WhatsAppProbe>,
  deps: LoginDeps,
): Onboarding {
  // There is nothing to probe before the gateway runs: the link itself is the check.
  const { probe: _probe, ...rest } = spec;
  // This version of the host never calls `disable`, and says so of channels that bring it.
  const { disable: _disable, ...base } = createOnboarding<WhatsAppAccount, WhatsAppProbe>(
    {
      ...rest,
      intro: [
        "WhatsApp is linked like a browser: the phone scans a code and stays the primary device.",
        "A separate number is best. If you use your own number, add it to allowFrom and write to yourself.",
      ],
      idExample: "+491701234567",
      async ask(prompter, account) {
        const now = isLinked(account.authDir) ? "Already linked. Link again?" : "Link a phone now?";
        if (!(await prompter.confirm({ message: now, initialValue: !isLinked(account.authDir) }))) return { enabled: true };
        const way = await prompter.select({
          message: "How?",
          options: [
            { value: "qr", label: "Scan a QR code" },
            { value: "code", label: "Type a code on the phone" },
          ],
        });
        const number = way === "code" ? await prompter.text({ message: "Phone number", placeholder: "+491701234567" }) : undefined;
        try {
          await prompter.note(await link(account, deps, (text) => prompter.note(text, "WhatsApp"), number?.replaceAll(/\D/g, "") || undefined), "WhatsApp");
        } catch (error) {
          await prompter.note(
            `${error instanceof Error ? error.message : String(error)}\nTry again later: openclaw channels login --channel whatsapp`,
            "WhatsApp",
          );
        }
        return { enabled: true };
      },
    },
    parts,
  );
  return {
    ...base,
    async getStatus({ cfg }) {
      const accounts = spec.accounts.listAccountIds(cfg).map((id) => spec.accounts.read(cfg, id));
      const configured = accounts.some(({ authDir }) => isLinked(authDir));
      const state = configured ? "linked" : "not linked";
      return { channel: "whatsapp", configured, statusLines: [`WhatsApp: ${state}`], selectionHint: state, quickstartScore: configured ? 5 : 4 };
    },
  };
}
