import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate of its own authority for one host name (RFC 5280), since node:crypto reads them but makes none. */
export function selfSigned(host: string): { readonly key: string; readonly certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    const { length } = content;
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
    return Buffer.concat([Buffer.from([tag, ...size]), content]);
  };
  const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
  const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
  const algorithm = sequence(objectId('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(host)))));
  const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x18, Buffer.from('20991231235959Z')));
  const alternativeNames = sequence(objectId('551d11'), der(0x04, sequence(der(0x82, Buffer.from(host)))));
  const authority = sequence(objectId('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeNames, authority)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const certificate = sequence(content, algorithm, signature);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}
