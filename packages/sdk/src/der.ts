import { type Bytes, concat } from './bytes.ts';

const COMPONENT_BYTES = 32;

/** r and s of 32 bytes each, as WebCrypto signs, to an ECDSA-Sig-Value (RFC 3279, 2.2.3). */
export function toDer(signature: Bytes): Bytes {
  const body = concat(
    toInteger(signature.subarray(0, COMPONENT_BYTES)),
    toInteger(signature.subarray(COMPONENT_BYTES, 2 * COMPONENT_BYTES)),
  );
  return concat(Uint8Array.of(0x30, body.length), body);
}

function toInteger(component: Uint8Array): Bytes {
  const first = component.findIndex((byte) => byte !== 0);
  const digits = component.subarray(first === -1 ? component.length - 1 : first);
  // A set top bit would make the integer negative.
  const sign = (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(0);
  return concat(Uint8Array.of(0x02, sign.length + digits.length), sign, digits);
}

/** The way back; undefined when malformed. Needless leading zeros are accepted, because some clients write them. */
export function fromDer(der: Uint8Array): Bytes | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const signature = new Uint8Array(2 * COMPONENT_BYTES);
  let offset = 2;
  for (const end of [COMPONENT_BYTES, 2 * COMPONENT_BYTES]) {
    const length = der[offset + 1] ?? 0;
    const integer = der.subarray(offset + 2, offset + 2 + length);
    if (der[offset] !== 0x02 || length === 0 || integer.length !== length || (integer[0] ?? 0) >= 0x80)
      return undefined;
    const digits = integer.subarray(
      Math.max(
        0,
        integer.findIndex((byte) => byte !== 0),
      ),
    );
    if (digits.length > COMPONENT_BYTES) return undefined;
    signature.set(digits, end - digits.length);
    offset += 2 + length;
  }
  return offset === der.length ? signature : undefined;
}
