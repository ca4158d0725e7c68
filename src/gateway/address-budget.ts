import type { Socket } from "node:net";
import { isLoopback } from "./bind.ts";

/** Counts sockets that have not proven anything yet, per address, so that a stranger cannot take all of them. */
export interface AddressBudget {
  /** False: the address has too many, and this one is to be dropped. */
  take(socket: Socket): boolean;
  /** The socket's owner is known now: it no longer counts. Harmless when it did not count. */
  give(socket: Socket): void;
  /** Sockets that count. */
  readonly size: number;
}

export interface AddressLimits {
  readonly perAddress: number;
  /** Programs of this machine, and proxies on it. */
  readonly perLoopback: number;
  readonly total: number;
}

export const ADDRESS_LIMITS: AddressLimits = { perAddress: 128, perLoopback: 4096, total: 8192 };

/** One key per IPv4 address and per IPv6 network: a host owns 2^64 addresses of the latter. */
function addressKey(address: string): string {
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  if (!plain.includes(":") || isLoopback(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}

export function createAddressBudget(limits: AddressLimits): AddressBudget {
  const held = new Map<Socket, string>();
  const counts = new Map<string, number>();

  function give(socket: Socket): void {
    const key = held.get(socket);
    if (key === undefined) return;
    held.delete(socket);
    socket.off("close", onClose);
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  }

  /** One function for all sockets: a closure each would be kept as long as the socket. */
  function onClose(this: Socket): void {
    give(this);
  }

  return {
    take(socket) {
      const address = socket.remoteAddress;
      // It is gone already.
      if (address === undefined) return false;
      const key = addressKey(address);
      const count = counts.get(key) ?? 0;
      const limit = isLoopback(key) ? limits.perLoopback : limits.perAddress;
      if (count >= limit || held.size >= limits.total) return false;
      held.set(socket, key);
      counts.set(key, count + 1);
      socket.once("close", onClose);
      return true;
    },
    give,
    get size() {
      return held.size;
    },
  };
}
