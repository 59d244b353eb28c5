import { contains, parseAddress } from '../lib/network.ts';

/** Where an address lies: on the internet, inside the operator's list, or where no tenant may send us. */
export type AddressClass = 'public' | 'allowed' | 'forbidden';

/** IPv4 that is not the internet (IANA special-purpose registry), and a cloud's metadata address that looks public. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** All of the IPv6 internet. What carries an IPv4 address and lies outside (compatible, NAT64) falls with the rest. */
const GLOBAL_IPV6 = '2000::/3';

/** IETF protocols with Teredo, documentation, 6to4, and documentation again. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** ::1.2.3.4, which a connection takes for an IPv6 address of its own and the address library for 1.2.3.4. */
const COMPATIBLE_IPV6 = /^[0:]*:\d+\./;

/** Judges one address as a resolver or a URL names it. Text that is no address is forbidden. */
export function classifyAddress(text: string, allow: readonly string[]): AddressClass {
  const address = COMPATIBLE_IPV6.test(text) ? undefined : parseAddress(text);
  if (address === undefined) return 'forbidden';
  const isIn = (block: string): boolean => contains(block, address);
  if (allow.some(isIn)) return 'allowed';
  if (address.kind() === 'ipv4') return SPECIAL_IPV4.some(isIn) ? 'forbidden' : 'public';
  return isIn(GLOBAL_IPV6) && !SPECIAL_IPV6.some(isIn) && !isIsatap(address.toByteArray()) ? 'public' : 'forbidden';
}

/** RFC 5214, section 6.1: after the interface identifier 0000:5efe or 0200:5efe comes an IPv4 address to tunnel to. */
function isIsatap(bytes: readonly number[]): boolean {
  const [first = 0, second, third, fourth] = bytes.slice(8, 12);
  return (first & 0xfd) === 0 && second === 0 && third === 0x5e && fourth === 0xfe;
}
