import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const IPV4 = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/;

/**
 * The library also reads shorthand such as 10.1, and a leading zero as the sign of an octal number: hardly anybody
 * means that.
 */
const isPlain = (text: string): boolean =>
  text.includes('.') ? IPV4.test(text.slice(text.lastIndexOf(':') + 1)) : text.includes(':');

/** IPv4 written into IPv6 without the mapping prefix: long retired, and the library takes it for the mapped form. */
const IPV4_COMPATIBLE = /^[0:]*:\d+\./;

/** An address as rules compare it: IPv4 in IPv6 clothes is IPv4, a zone is dropped. Undefined if the text is none. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, '');
  return isPlain(bare) && !IPV4_COMPATIBLE.test(bare) && ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/**
 * A block with its host bits zeroed, as `address/length`; a bare address is a block of one. Undefined if it is none.
 */
export function normalizeCidr(text: string): string | undefined {
  const [, base = '', length] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  if (!isPlain(base) || !ipaddr.isValid(base)) return undefined;
  const address = ipaddr.parse(base);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (prefix > bits) return undefined;
  // A mapped block is the IPv4 block that it contains; a wider one would hold addresses that are none.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    if (prefix < 96) return undefined;
    return block(address.toIPv4Address(), prefix - 96);
  }
  return block(address, prefix);
}

function block(address: Address, prefix: number): string {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff00 >> kept) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${prefix}`;
}

/** Whether a normalised block holds the address. */
export function contains(cidr: string, address: Address): boolean {
  const [base, prefix] = ipaddr.parseCIDR(cidr);
  return base.kind() === address.kind() && address.match([base, prefix] as never);
}
