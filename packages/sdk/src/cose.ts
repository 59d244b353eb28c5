import { type Bytes, toBase64url } from './bytes.ts';

/** Members of a COSE_Key (RFC 9052, 7) that we read: integers and byte strings under integer labels. */
type Members = ReadonlyMap<number, number | Bytes>;

/** A passkey's public key, ready for WebCrypto, and whether its signatures are DER. */
export interface PasskeyKey {
  readonly jwk: JsonWebKey;
  readonly algorithm: RsaHashedImportParams | EcKeyImportParams;
  readonly isEcdsa: boolean;
}

/** ES256 and RS256, the algorithms that `createPasskey` asks for; undefined for anything else. */
export function readCoseKey(bytes: Bytes): PasskeyKey | undefined {
  const members = readMembers(bytes);
  const member = (label: number): string | undefined => {
    const value = members?.get(label);
    return value instanceof Uint8Array ? toBase64url(value) : undefined;
  };
  const [type, algorithm] = [members?.get(1), members?.get(3)];
  if (type === 2 && algorithm === -7 && members?.get(-1) === 1) {
    const [x, y] = [member(-2), member(-3)];
    if (x === undefined || y === undefined) return undefined;
    return { jwk: { kty: 'EC', crv: 'P-256', x, y }, algorithm: { name: 'ECDSA', namedCurve: 'P-256' }, isEcdsa: true };
  }
  if (type === 3 && algorithm === -257) {
    const [n, e] = [member(-1), member(-2)];
    if (n === undefined || e === undefined) return undefined;
    return { jwk: { kty: 'RSA', n, e }, algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, isEcdsa: false };
  }
  return undefined;
}

/** The part of CBOR (RFC 8949) that a COSE_Key needs; undefined when there is anything else. */
function readMembers(bytes: Bytes): Members | undefined {
  let offset = 0;
  const readHead = (): { major: number; value: number } | undefined => {
    const first = bytes[offset];
    if (first === undefined) return undefined;
    const extra = { 24: 1, 25: 2 }[first & 31] ?? 0;
    if ((first & 31) > 25 || offset + 1 + extra > bytes.length) return undefined;
    let value = extra === 0 ? first & 31 : 0;
    for (let index = 1; index <= extra; index += 1) value = value * 256 + (bytes[offset + index] ?? 0);
    offset += 1 + extra;
    return { major: first >> 5, value };
  };
  const readInteger = (head: { major: number; value: number } | undefined): number | undefined =>
    head?.major === 0 ? head.value : head?.major === 1 ? -1 - head.value : undefined;

  const map = readHead();
  if (map?.major !== 5) return undefined;
  const members = new Map<number, number | Bytes>();
  for (let index = 0; index < map.value; index += 1) {
    const label = readInteger(readHead());
    const head = readHead();
    if (label === undefined || head === undefined) return undefined;
    if (head.major === 2) {
      const value = bytes.slice(offset, offset + head.value);
      if (value.length !== head.value) return undefined;
      offset += head.value;
      members.set(label, value);
    } else {
      const value = readInteger(head);
      if (value === undefined) return undefined;
      members.set(label, value);
    }
  }
  return offset === bytes.length ? members : undefined;
}
