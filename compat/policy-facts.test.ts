// The facts of policies against the libraries that build transactions: every field is what the library was given, what is
// signed is what the library would sign, and bytes that no library would write are refused or read to the last one.
import { type PayloadEncoding, payloadNamespaces, readTransaction, signingInput } from '@custos/server/policy-facts';
import fc from 'fast-check';
import { keccak256, recoverAddress, serializeTransaction } from 'viem';
import { describe, expect, test } from 'vitest';
import { call } from './policy-facts-abi.ts';
import {
  ADDRESS_TYPES,
  bitcoinAccount,
  bitcoinPayloads,
  bitcoinTransaction,
  psbtFacts,
  readPsbt,
  signatureRecord,
  wrappedTransaction,
} from './policy-facts-bitcoin.ts';
import {
  bytesOf,
  expectNoCrash,
  expectUnderstood,
  hexOf,
  searchDamaged,
  understand,
  unlessRefused,
} from './policy-facts-damage.ts';
import {
  ethereumAccount,
  ethereumFacts,
  ethereumTransaction,
  interfaceOf,
  rlpFields,
  signatureOfViem,
  tempoFacts,
  tempoFields,
  tempoPayload,
  tempoTransaction,
} from './policy-facts-ethereum.ts';
import {
  encodeSwap,
  instructionData,
  messageFacts,
  messageIn,
  messageWith,
  solanaAccount,
  solanaInterfaces,
  solanaTransaction,
  withoutParsed,
} from './policy-facts-solana.ts';
import {
  fieldsOf,
  isReadType,
  ofType,
  rawOf,
  tronAccount,
  tronOrder,
  tronPayload,
  tronReading,
  tronTransaction,
  tronTransfer,
  tronTypes,
  tronUnread,
} from './policy-facts-tron.ts';
import {
  type Authorization,
  authorization,
  authorizationFacts,
  authorizationOfEthers,
  authorizationOfViem,
  digestOfEthers,
  digestOfViem,
  parseLowerCase,
  type TypedDocument,
  typedDataFacts,
  typedDocument,
} from './policy-facts-typed-data.ts';

describe('Ethereum', () => {
  const type = 'TRANSACTION_TYPE_ETHEREUM';

  test('transactions of viem and ethers', () => {
    fc.assert(
      fc.property(ethereumTransaction, (built) => expectUnderstood(type, built)),
      { numRuns: 300 },
    );
  });

  test('damaged ones', () => {
    searchDamaged({
      samples: ethereumTransaction,
      bytes: ({ unsigned }) => bytesOf(unsigned),
      judge: (bytes, { call, interfaces, facts: said }) => {
        const { facts, payloads } = understand(type, bytes.toString('hex'), ethereumAccount, interfaces);
        if (facts === undefined) return false;
        const first = bytes[0] ?? 0;
        expect(rlpFields(`0x${bytes.subarray(first < 0xc0 ? 1 : 0).toString('hex')}`)).toBeDefined();
        expect(facts).toEqual(ethereumFacts(bytes, call, said.eth?.tx?.to ?? ''));
        expect(payloads).toEqual([keccak256(bytes).slice(2)]);
        return true;
      },
    });
  });

  test('damaged call data', () => {
    const to = `0x${'c0'.repeat(20)}` as const;
    searchDamaged({
      samples: call,
      bytes: ({ data }) => bytesOf(data),
      judge: (bytes, called) => {
        const data = `0x${hexOf(bytes)}` as const;
        const unsigned = serializeTransaction({ type: 'eip1559', chainId: 1, to, data });
        const { facts } = understand(type, unsigned, ethereumAccount, [interfaceOf(to, called)]);
        expect(facts).toEqual(ethereumFacts(bytesOf(unsigned), called, to));
        return facts?.eth?.tx?.contract_call_args !== undefined;
      },
    });
  });

  test('random bytes and text', () => {
    expectNoCrash(type, ethereumAccount, ['01', '02f8', '03', '04f8', 'f8', 'e9']);
  });
});

describe('raw payloads of Ethereum', () => {
  const digest = (encoding: PayloadEncoding, text: string): string =>
    hexOf(signingInput(text, encoding, 'HASH_FUNCTION_NO_OP', 'CURVE_SECP256K1'));

  test('typed data as viem and ethers hash it', () => {
    fc.assert(
      fc.property(typedDocument, (document) => {
        const text = JSON.stringify(document);
        expect(payloadNamespaces('PAYLOAD_ENCODING_EIP712', text)).toEqual(typedDataFacts(document));
        const signed = digest('PAYLOAD_ENCODING_EIP712', text);
        expect(signed).toBe(digestOfViem(document));
        expect(signed).toBe(digestOfEthers(document));
      }),
      { numRuns: 200 },
    );
  });

  test('damaged typed data', () => {
    searchDamaged({
      samples: typedDocument,
      bytes: (document) => Buffer.from(JSON.stringify(document)),
      judge: (bytes) => {
        const text = bytes.toString('utf8');
        const facts = unlessRefused('INVALID_PAYLOAD_ENCODING', () =>
          payloadNamespaces('PAYLOAD_ENCODING_EIP712', text),
        );
        if (facts === undefined) return false;
        const document = parseLowerCase(text) as TypedDocument;
        expect(facts).toEqual(typedDataFacts(document));
        expect(digest('PAYLOAD_ENCODING_EIP712', text), text).toBe(digestOfViem(document));
        return true;
      },
    });
  });

  test('authorizations as viem and ethers hash them', () => {
    fc.assert(
      fc.property(authorization, (authorized) => {
        const text = JSON.stringify(authorized);
        const encoding = 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
        expect(payloadNamespaces(encoding, text)).toEqual(authorizationFacts(authorized));
        expect(digest(encoding, text)).toBe(authorizationOfViem(authorized));
        expect(digest(encoding, text)).toBe(authorizationOfEthers(authorized));
      }),
    );
  });

  test('damaged authorizations', () => {
    const encoding = 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
    searchDamaged({
      samples: authorization,
      bytes: (authorized) => Buffer.from(JSON.stringify(authorized)),
      judge: (bytes) => {
        const text = bytes.toString('utf8');
        const facts = unlessRefused('INVALID_PAYLOAD_ENCODING', () => payloadNamespaces(encoding, text));
        if (facts === undefined) return false;
        const authorized = parseLowerCase(text) as Authorization;
        expect(Object.keys(authorized).sort()).toEqual(['address', 'chainId', 'nonce']);
        expect(facts).toEqual(authorizationFacts(authorized));
        expect(digest(encoding, text)).toBe(authorizationOfEthers(authorized));
        return true;
      },
    });
  });
});

describe('Tempo', () => {
  const type = 'TRANSACTION_TYPE_TEMPO';

  test('transactions of viem', async () => {
    await fc.assert(
      fc.asyncProperty(tempoFields, async (fields) => expectUnderstood(type, await tempoTransaction(fields))),
    );
  });

  test('what viem signs itself', async () => {
    const signing = fc.asyncProperty(tempoFields, async (fields) => {
      const { unsigned } = await tempoTransaction(fields);
      const [payload] = understand(type, unsigned, ethereumAccount).payloads ?? [];
      const signature = await signatureOfViem(fields);
      const signer = await recoverAddress({ hash: `0x${payload}`, signature });
      expect(signer.toLowerCase()).toBe(ethereumAccount.address);
    });
    await fc.assert(signing, { numRuns: 40 });
  });

  test('damaged ones', async () => {
    const samples = fc.sample(tempoFields, 60);
    const built = await Promise.all(samples.map(tempoTransaction));
    searchDamaged({
      samples: fc.constantFrom(...built),
      bytes: ({ unsigned }) => bytesOf(unsigned),
      judge: (bytes) => {
        const { facts, payloads } = understand(type, bytes.toString('hex'), ethereumAccount);
        if (facts === undefined) return false;
        expect(rlpFields(`0x${bytes.subarray(1).toString('hex')}`)).toBeDefined();
        expect(facts).toEqual(tempoFacts(bytes));
        expect(payloads).toEqual([tempoPayload(bytes)]);
        return true;
      },
    });
  });

  test('random bytes and text', () => expectNoCrash(type, ethereumAccount, ['76', '76f8', '76ee']));
});

describe('Solana', () => {
  const type = 'TRANSACTION_TYPE_SOLANA';

  test('transactions of @solana/web3.js', () => {
    fc.assert(
      fc.property(solanaTransaction, (built) => expectUnderstood(type, built)),
      { numRuns: 300 },
    );
  });

  test('damaged ones', () => {
    searchDamaged({
      samples: solanaTransaction,
      bytes: ({ unsigned }) => bytesOf(unsigned),
      judge: (bytes) => {
        const { facts, payloads, attach } = understand(type, hexOf(bytes), solanaAccount, solanaInterfaces);
        if (facts === undefined) return false;
        const message = messageIn(bytes);
        expect(message).toBeDefined();
        if (message === undefined) return false;
        const seen = withoutParsed(facts, (parsed, data) => expect(encodeSwap(parsed)).toBe(data));
        expect(seen).toEqual(messageFacts(message));
        if (payloads === undefined || attach === undefined) return true;
        expect(payloads).toEqual([hexOf(message.serialize())]);
        // The signature takes its place, and every other byte is what it was.
        const signed = bytesOf(attach(0x55));
        const count = message.header.numRequiredSignatures;
        const at = 1 + 64 * message.staticAccountKeys.findIndex((key) => key.toBase58() === solanaAccount.address);
        expect(hexOf(signed.subarray(at, at + 64))).toBe('55'.repeat(64));
        const slots =
          bytes.length === signed.length
            ? bytes
            : Buffer.concat([Uint8Array.of(count), Buffer.alloc(64 * count), bytes]);
        expect(hexOf(signed)).toBe(
          hexOf(Buffer.concat([slots.subarray(0, at), Buffer.alloc(64, 0x55), slots.subarray(at + 64)])),
        );
        return true;
      },
    });
  });

  test('damaged data of an instruction with an IDL', () => {
    searchDamaged({
      samples: instructionData,
      bytes: (data) => data,
      judge: (data) => {
        const { facts } = understand(type, hexOf(messageWith(data)), solanaAccount, solanaInterfaces);
        const [instruction] = facts?.solana?.tx?.instructions ?? [];
        expect(instruction?.instruction_data_hex).toBe(hexOf(data));
        const parsed = instruction?.parsed_instruction_data;
        if (parsed !== undefined) expect(encodeSwap(parsed)).toBe(hexOf(data));
        return parsed !== undefined;
      },
    });
  });

  test('random bytes and text', () =>
    expectNoCrash(type, solanaAccount, ['80', '8001', `01${'00'.repeat(64)}0100`, '0100010211']));
});

describe('Tron', () => {
  const type = 'TRANSACTION_TYPE_TRON';

  test('transactions of tronweb', async () => {
    await fc.assert(
      fc.asyncProperty(tronOrder, async (ordered) => expectUnderstood(type, await tronTransaction(ordered))),
      { numRuns: 300 },
    );
  });

  const blockHeader = {
    ref_block_bytes: '02a2',
    ref_block_hash: 'e216e254e43ee108',
    expiration: 1571898861000,
    timestamp: 1571898802704,
  };
  const expectRefused = (unsigned: string, reason: string | RegExp) => {
    expect(understand(type, unsigned, tronAccount)).toMatchObject({ facts: undefined, payloads: undefined });
    const signer = { account: tronAccount, addresses: [tronAccount] };
    expect(() => readTransaction(type, unsigned, signer)).toThrow(reason);
  };

  test.each(tronUnread)('%s is refused by name', async (name, build) => {
    expectRefused(
      await rawOf(build, { permissionId: 0, blockHeader }),
      `Tron transactions of contract type ${name} are not signed, because their contents are not read`,
    );
  });

  test('every type that tronweb knows is read or refused by name', async () => {
    const unsigned = await rawOf(tronTransfer, { permissionId: 0, blockHeader });
    expect(tronTypes.filter(([name]) => isReadType(name))).toHaveLength(8);
    for (const [name, number] of tronTypes) {
      if (!isReadType(name)) expectRefused(ofType(number, unsigned), new RegExp(` ${name} are not signed`, 'i'));
    }
  });

  test('damaged ones', async () => {
    const built = await Promise.all(fc.sample(tronOrder, 120).map(tronTransaction));
    searchDamaged({
      samples: fc.constantFrom(...built),
      bytes: ({ unsigned }) => bytesOf(unsigned),
      judge: (bytes) => {
        const { facts, payloads } = understand(type, hexOf(bytes), tronAccount);
        if (facts === undefined) return false;
        if (payloads !== undefined) expect(payloads).toEqual([tronPayload(bytes)]);
        const contract = facts.tron?.tx?.contract[0]?.type ?? '';
        expect(contract).toSatisfy(isReadType);
        const fields = fieldsOf(bytes, contract);
        expect(fields.shortest).toBe(true);
        if (!fields.exact) return true;
        const reading = tronReading(bytes, contract);
        expect(facts).toEqual(reading.facts);
        expect(fieldsOf(reading.written, contract).list).toEqual(fields.list);
        return true;
      },
    });
  });

  test('random bytes and text', () =>
    expectNoCrash(type, tronAccount, ['0a02', '0a0202a22208', `0a0202a22208${'00'.repeat(8)}40`]));
});

describe('Bitcoin', () => {
  const type = 'TRANSACTION_TYPE_BITCOIN';

  test('PSBTs of bitcoinjs-lib', () => {
    fc.assert(
      fc.property(bitcoinTransaction, (built) => expectUnderstood(type, built)),
      { numRuns: 200 },
    );
  });

  test('segwit wrapped in P2SH is not signed for the key inside', () => {
    const { unsigned } = wrappedTransaction();
    for (const one of ADDRESS_TYPES) {
      expect(understand(type, unsigned, bitcoinAccount(one))).toMatchObject({ facts: undefined, payloads: undefined });
    }
  });

  test('damaged ones', () => {
    searchDamaged({
      samples: bitcoinTransaction,
      bytes: ({ unsigned }) => bytesOf(unsigned),
      judge: (bytes, { signed }) => {
        const { facts, payloads, attach } = understand(type, hexOf(bytes), bitcoinAccount(signed));
        if (facts === undefined) return false;
        expect(payloads).toBeDefined();
        const psbt = readPsbt(bytes);
        expect(psbt).toBeDefined();
        if (psbt === undefined || attach === undefined) return false;
        expect(facts).toEqual(psbtFacts(psbt));
        expect(facts.bitcoin?.tx?.fee).toBeGreaterThanOrEqual(0n);
        expect(payloads).toEqual(bitcoinPayloads(psbt, signed));
        expect(attach(0x55).replaceAll(signatureRecord(signed, 0x55), '')).toBe(hexOf(bytes));
        return true;
      },
    });
  });

  test('random bytes and text', () => {
    for (const one of ADDRESS_TYPES)
      expectNoCrash(type, bitcoinAccount(one), ['70736274ff', '70736274ff0100', '70736274ff01003302000000']);
  });
});
