/** What a client takes from the platform it runs on. */

/** Events of a socket. `onClose` comes once, whether or not it ever opened. */
export interface SocketHandlers {
  onOpen(): void;
  onText(text: string): void;
  onClose(code: number, reason: string): void;
}

/** A WebSocket, reduced to what a client does with it. */
export interface Socket {
  send(text: string): void;
  close(code: number, reason: string): void;
}

export type OpenSocket = (url: string, handlers: SocketHandlers) => Socket;

/** An ed25519 key pair that names this program to gateways. */
export interface DeviceIdentity {
  /** Lower-case hex SHA-256 of the raw public key. */
  readonly id: string;
  /** The raw 32 bytes, base64url without padding. */
  readonly publicKey: string;
  /** Signs a text's UTF-8 bytes; base64url without padding. */
  sign(text: string): string | Promise<string>;
}

/** The token a gateway gave to a device for a role. */
export interface DeviceGrant {
  readonly role: string;
  readonly token: string;
  readonly scopes: readonly string[];
}

/** Where device tokens are kept between connections. */
export interface DeviceTokens {
  load(deviceId: string, role: string): string | undefined | Promise<string | undefined>;
  save(deviceId: string, grant: DeviceGrant): void | Promise<void>;
  forget(deviceId: string, role: string): void | Promise<void>;
}

/** Time, as the client uses it. Unlike the system clock of servers its timers keep a program alive that waits for a connection. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number;
  after(ms: number, fn: () => void): Disposable;
}

export const platformClock: ClientClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
