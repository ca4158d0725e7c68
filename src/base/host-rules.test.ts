import { describe, expect, test } from "vitest";
import { networkInterfaces } from "node:os";
import { assertHostAllowed, bareHost, isInternalName, isOwnAddress, isPrivateAddress } from "./host-rules.ts";

const PRIVATE =
  "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.168.0.1 198.18.0.1 198.19.255.255 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 127.1 127.0.1 0x7f000001 0x7f.1 017700000001 0177.0.0.1 2130706433 10.1 0 :: ::1 [::1] 0:0:0:0:0:0:0:1 fe80::1 fe80::1%eth0 febf::1 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:0:10.0.0.1 ::127.0.0.1 ::10.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::10.0.0.1 64:ff9b:1:7f00:0:100:: 2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:0:0:0:0:80ff:fffe 2001:0:7f00:1:: 2a00::5efe:10.0.0.1 2a00::200:5efe:192.168.0.1 not:an:address :::".split(
    " ",
  );
const PUBLIC =
  "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111 2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808:: fe00::1 example.com".split(
    " ",
  );

describe("an address", () => {
  test.each(PRIVATE)("%s is not the public internet", (address) => expect(isPrivateAddress(address)).toBe(true));
  test.each(PUBLIC)("%s is", (address) => expect(isPrivateAddress(address)).toBe(false));
});

test("names of this machine, its network and its cloud are recognized in every spelling", () => {
  const internal = ["localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost.localdomain", "printer.local", "metadata.google.internal", "x.INTERNAL."];
  for (const name of internal) expect([name, isInternalName(name)]).toEqual([name, true]);
  for (const name of ["example.com", "localhost.com", "internal.example.com", "mylocal"]) expect([name, isInternalName(name)]).toEqual([name, false]);
});

test("brackets, zones, case and trailing dots are not part of a host", () => {
  expect(["[FE80::1%eth0]", " Example.COM. ", "example.com.."].map((host) => bareHost(host))).toEqual(["fe80::1", "example.com", "example.com"]);
});

test("addresses of this machine's own interfaces are refused, public ones as well", () => {
  const eth0 = [{ address: "203.0.113.7" }, { address: "2001:db8::7" }] as unknown as NonNullable<ReturnType<typeof networkInterfaces>[string]>;
  const own = ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::7", "[2001:0db8:0:0:0:0:0:7]"];
  expect(own.filter((address) => isOwnAddress(address, { eth0 }))).toEqual(own);
  expect(isOwnAddress("203.0.113.8", { eth0 })).toBe(false);
  for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    expect(() => assertHostAllowed("shop.example", [address])).toThrow("access is not allowed");
    expect(() => assertHostAllowed("shop.example", [address], { allowedHostnames: ["shop.example"] })).not.toThrow();
  }
});

describe("a policy", () => {
  const reason = (host: string, addresses: string[], policy?: Parameters<typeof assertHostAllowed>[2]): unknown => {
    try {
      assertHostAllowed(host, addresses, policy);
      return "allowed";
    } catch (error) {
      return (error as { details: { reason: string } }).details.reason;
    }
  };
  test.each([
    ["example.com", ["8.8.8.8"], undefined, "allowed"],
    ["example.com", ["8.8.8.8", "10.0.0.1"], undefined, "address"],
    ["example.com", ["not an address"], undefined, "address"],
    ["localhost", ["8.8.8.8"], undefined, "host"],
    ["10.0.0.1", [], undefined, "host"],
    ["10.0.0.1", ["10.0.0.1"], { allowPrivateNetwork: true }, "allowed"],
    ["nas.example.com", ["10.0.0.1"], { allowedHostnames: ["NAS.example.com."] }, "allowed"],
    ["nas2.example.com", ["10.0.0.1"], { allowedHostnames: ["nas.example.com"] }, "address"],
    ["a.example.com", ["8.8.8.8"], { hostnameAllowlist: ["*.example.com"] }, "allowed"],
    ["example.com", ["8.8.8.8"], { hostnameAllowlist: ["*.example.com"] }, "list"],
    ["evilexample.com", ["8.8.8.8"], { hostnameAllowlist: ["*.example.com"] }, "list"],
    ["a.example.com", ["10.0.0.1"], { hostnameAllowlist: ["*.example.com"] }, "address"],
    ["other.com", ["8.8.8.8"], { hostnameAllowlist: ["example.com"], allowPrivateNetwork: true }, "list"],
  ] as const)("%s at %j with %j: %s", (host, addresses, policy, expected) => {
    expect(reason(host, [...addresses], policy)).toBe(expected);
  });
});
