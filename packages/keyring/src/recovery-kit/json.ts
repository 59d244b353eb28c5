import { Buffer } from 'node:buffer';
import type { KeyText } from '../address/format.ts';
import { type AddressFormat, FORMATS } from '../address/formats.ts';
import type { Curve } from '../curve.ts';
import type { MnemonicLanguage } from '../derive/languages.ts';
import type { AccountForKit, PrivateKeyForKit, RecoveryKitContents, WalletForKit } from '../keyring.ts';

// What a recovery kit holds: SPEC.md, section 10. It is JSON in lines that a person can read who has nothing but age.

const ABOUT =
  'Whoever reads this file owns everything in its wallets: keep it offline. The words of a wallet (BIP-39) restore all of its accounts, at the paths beside their addresses, in any wallet program of the chain. Keys under privateKeys stand alone. Custos is not needed.';

const HEX: KeyText = { name: 'Hexadecimal', encode: (privateKey) => Buffer.from(privateKey).toString('hex') };
const KEY_TEXTS: ReadonlyMap<AddressFormat, KeyText> = new Map(
  FORMATS.map((format) => [format.name, 'keyText' in format ? format.keyText : HEX]),
);

/** Everything before the first wallet. */
export function beginning(
  organizationId: string,
  { organizationName, madeAtMs }: RecoveryKitContents,
  recipients: readonly string[],
): Uint8Array {
  return bytesOf(`{
  "format": "custos-recovery-kit",
  "version": 1,
  "about": ${text(ABOUT)},
  "madeAt": "${new Date(madeAtMs).toISOString()}",
  "organization": { "id": ${text(organizationId)}, "name": ${text(organizationName)} },
  "recipients": [${recipients.map((recipient) => `\n    ${text(recipient)}`).join(',')}
  ],
  "wallets": [`);
}

export const BETWEEN = bytesOf('\n  ],\n  "privateKeys": [');
export const END = bytesOf('\n  ]\n}\n');

/** The phrase and the passphrase are UTF-8, and stay bytes: they are never part of a string. The caller wipes the answer. */
export function walletEntry(
  { walletId, name, accounts }: WalletForKit,
  seed: { readonly phrase: Uint8Array; readonly language: MnemonicLanguage; readonly passphrase: Uint8Array },
  isFirst: boolean,
): Uint8Array {
  const passphrase = escaped(seed.passphrase);
  try {
    return joined(
      bytesOf(`${isFirst ? '' : ','}
    {
      "id": ${text(walletId)},
      "name": ${text(name)},
      "mnemonic": "`),
      // Words have no character that JSON escapes.
      seed.phrase,
      bytesOf(`",
      "language": "${languageName(seed.language)}",`),
      ...(passphrase.length === 0 ? [] : [bytesOf('\n      "passphrase": "'), passphrase, bytesOf('",')]),
      bytesOf(`
      "accounts": [${accounts.map((account) => `\n        ${accountLine(account)}`).join(',')}
      ]
    }`),
    );
  } finally {
    passphrase.fill(0);
  }
}

function accountLine({ name, curve, path, addressFormat, address }: AccountForKit): string {
  const named = name === undefined ? '' : `"name": ${text(name)}, `;
  return `{ ${named}"curve": "${curve}", "path": "${path}", "addressFormat": "${addressFormat}", "address": ${text(address)} }`;
}

/** The caller wipes the answer; the texts of the key are strings, which nobody can wipe. */
export function privateKeyEntry(
  { privateKeyId, name, addresses }: PrivateKeyForKit,
  key: { readonly curve: Curve; readonly privateKey: Uint8Array; readonly publicKey: Uint8Array },
  isFirst: boolean,
): Uint8Array {
  const lines = addresses.map(({ addressFormat, address }) => {
    const keyText = KEY_TEXTS.get(addressFormat) ?? HEX;
    const importKey = keyText.encode(key.privateKey, key.publicKey);
    return `\n        { "addressFormat": "${addressFormat}", "address": ${text(address)}, "importKeyName": ${text(keyText.name)}, "importKey": ${text(importKey)} }`;
  });
  return bytesOf(`${isFirst ? '' : ','}
    {
      "id": ${text(privateKeyId)},
      "name": ${text(name)},
      "curve": "${key.curve}",
      "privateKey": "${HEX.encode(key.privateKey, key.publicKey)}",
      "addresses": [${lines.join(',')}
      ]
    }`);
}

const text = (value: string): string => JSON.stringify(value);

/** `MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE` is `simplified-chinese`. */
const languageName = (language: MnemonicLanguage): string =>
  language.slice('MNEMONIC_LANGUAGE_'.length).toLowerCase().replaceAll('_', '-');

function bytesOf(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** Not by Buffer.concat, whose memory others get after it. */
function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** UTF-8 as it stands between the quotation marks of JSON. */
function escaped(utf8: Uint8Array): Uint8Array {
  const scratch = new Uint8Array(6 * utf8.length);
  let length = 0;
  for (const byte of utf8) {
    if (byte < 0x20) {
      scratch.set(bytesOf(`\\u00${byte.toString(16).padStart(2, '0')}`), length);
      length += 6;
      continue;
    }
    if (byte === QUOTE || byte === BACKSLASH) {
      scratch[length] = BACKSLASH;
      length += 1;
    }
    scratch[length] = byte;
    length += 1;
  }
  const exact = scratch.slice(0, length);
  scratch.fill(0);
  return exact;
}
