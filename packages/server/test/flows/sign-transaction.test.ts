import { createHash, randomUUID } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, createBase58check } from '@scure/base';
import { NETWORK, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, Transaction } from '@scure/btc-signer';
import { RawOldTx } from '@scure/btc-signer/script.js';
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import {
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { account, approve, COMPLETED, importKey, needTwo, newWallet, outcome, PENDING } from './fixtures/wallets.ts';

const ETHEREUM = 'TRANSACTION_TYPE_ETHEREUM';
const SOLANA = 'TRANSACTION_TYPE_SOLANA';
const TRON = 'TRANSACTION_TYPE_TRON';
const BITCOIN = 'TRANSACTION_TYPE_BITCOIN';
const TEMPO = 'TRANSACTION_TYPE_TEMPO';

const BITCOIN_TYPES = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
type BitcoinType = (typeof BITCOIN_TYPES)[number];

const ACCOUNTS = {
  ethereum: account('SECP256K1', "m/44'/60'/0'/0/0", 'ETHEREUM'),
  other: account('SECP256K1', "m/44'/60'/0'/0/1", 'ETHEREUM'),
  solana: account('ED25519', "m/44'/501'/0'/0'", 'SOLANA'),
  tron: account('SECP256K1', "m/44'/195'/0'", 'TRON'),
  p256: account('P256', "m/0'", 'COMPRESSED'),
  spark: account('SECP256K1', "m/8797555'/0'/0'", 'SPARK_MAINNET'),
  P2PKH: account('SECP256K1', "m/44'/0'/0'/0/0", 'BITCOIN_MAINNET_P2PKH'),
  P2SH: account('SECP256K1', "m/49'/0'/0'/0/0", 'BITCOIN_MAINNET_P2SH'),
  P2WPKH: account('SECP256K1', "m/84'/0'/0'/0/0", 'BITCOIN_MAINNET_P2WPKH'),
  P2WSH: account('SECP256K1', "m/48'/0'/0'/2'/0/0", 'BITCOIN_MAINNET_P2WSH'),
  P2TR: account('SECP256K1', "m/86'/0'/0'/0/0", 'BITCOIN_MAINNET_P2TR'),
} as const;
type AccountName = keyof typeof ACCOUNTS;
type Signers = Record<AccountName, { readonly address: string; readonly publicKey: string }>;

async function newSigners(client: TestClient): Promise<Signers> {
  const { walletId } = await newWallet(client, Object.values(ACCOUNTS));
  const { accounts } = (await client.query('list_wallet_accounts', { walletId })).body;
  return Object.fromEntries(Object.keys(ACCOUNTS).map((name, index) => [name, accounts[index]])) as never;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const sha256 = (bytes: Uint8Array): Uint8Array => Uint8Array.from(createHash('sha256').update(bytes).digest());

const TO = `0x${'35'.repeat(20)}` as const;
const fees = { maxFeePerGas: 20n, maxPriorityFeePerGas: 1n };
const ETHEREUM_TRANSACTIONS: Readonly<Record<string, TransactionSerializable>> = {
  'legacy before EIP-155': { type: 'legacy', to: TO, value: 1n, gas: 21_000n, gasPrice: 7n, nonce: 9 },
  'legacy with a chain': { type: 'legacy', chainId: 137, to: TO, value: 10n ** 18n, gas: 21_000n, gasPrice: 7n },
  'EIP-2930': {
    type: 'eip2930',
    chainId: 1,
    to: TO,
    gasPrice: 7n,
    accessList: [{ address: TO, storageKeys: [`0x${'ab'.repeat(32)}`] }],
  },
  'EIP-1559': { type: 'eip1559', chainId: 31_337, to: TO, value: 1n, data: '0xa9059cbb00', gas: 1n, nonce: 1, ...fees },
  'EIP-1559 that creates a contract': { type: 'eip1559', chainId: 1, data: '0x6000', gas: 1n, ...fees },
  'EIP-4844 without blobs': {
    type: 'eip4844',
    chainId: 1,
    to: TO,
    maxFeePerBlobGas: 3n,
    blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
    ...fees,
  },
  'EIP-7702': {
    type: 'eip7702',
    chainId: 1,
    to: TO,
    authorizationList: [
      { address: TO, chainId: 1, nonce: 0, r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 1 },
    ],
    ...fees,
  },
};
const PLAIN = serializeTransaction(ETHEREUM_TRANSACTIONS['EIP-1559'] as TransactionSerializable);

/** A transfer of lamports by the first of the keys, whose signatures are all missing. */
function solanaTransfer(keys: readonly Uint8Array[], signatures: number, version: 'legacy' | 0): Uint8Array {
  const system = new Uint8Array(32);
  const to = new Uint8Array(32).fill(2);
  const message = [
    ...(version === 0 ? [0x80] : []),
    ...[signatures, 0, 1],
    ...[keys.length + 2, ...keys.flatMap((key) => [...key]), ...to, ...system],
    ...new Uint8Array(32).fill(0xbb),
    // One instruction of the system program: transfer 49.
    ...[1, keys.length + 1, 2, 0, keys.length, 12, 2, 0, 0, 0, 49, 0, 0, 0, 0, 0, 0, 0],
    ...(version === 0 ? [0] : []),
  ];
  return Uint8Array.from([signatures, ...new Uint8Array(64 * signatures), ...message]);
}

const blob = (field: number, bytes: Uint8Array) => Uint8Array.of((field << 3) | 2, bytes.length, ...bytes);
const TRON_BOB = Uint8Array.of(0x41, ...new Uint8Array(20).fill(0xab));
const tronBytes = (address: string) => createBase58check((bytes: Uint8Array) => sha256(bytes)).decode(address);

/** raw_data as protobuf. */
function tronRaw(type: number, name: string, value: Uint8Array): Uint8Array {
  const any = [blob(1, Buffer.from(`type.googleapis.com/protocol.${name}`)), blob(2, value)];
  return cat([
    blob(1, Uint8Array.of(2, 0xa2)),
    blob(4, new Uint8Array(8).fill(7)),
    [0x40, 0x90, 0x4e],
    blob(11, cat([[0x08, type], blob(2, cat(any))])),
    [0x70, 0x90, 0x4e],
  ]);
}
/** Of TRX. */
const tronTransfer = (owner: string): Uint8Array =>
  tronRaw(1, 'TransferContract', cat([blob(1, tronBytes(owner)), blob(2, TRON_BOB), [0x18, 0x05]]));
const tronVote = (owner: string): Uint8Array =>
  tronRaw(4, 'VoteWitnessContract', cat([blob(1, tronBytes(owner)), blob(2, cat([blob(1, TRON_BOB), [0x10, 0x01]]))]));
const cat = (parts: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

function payment(type: BitcoinType, key: Uint8Array) {
  switch (type) {
    case 'P2PKH':
      return p2pkh(key);
    case 'P2SH':
      return p2sh(p2pk(key));
    case 'P2WPKH':
      return p2wpkh(key);
    case 'P2WSH':
      return p2wsh(p2pk(key));
    case 'P2TR':
      return p2tr(key.subarray(1));
  }
}

const LENIENT = { allowUnknownInputs: true, allowUnknownOutputs: true, disableScriptCheck: true } as const;

/** A PSBT that spends one output of each of these keys. */
function psbtOf(...owners: readonly (readonly [BitcoinType, string])[]): string {
  const tx = new Transaction(LENIENT);
  for (const [at, [type, publicKey]] of owners.entries()) {
    const paid = payment(type, bytesOf(publicKey)) as ReturnType<typeof p2pkh> & { redeemScript?: Uint8Array };
    const { script } = paid;
    const previous = RawOldTx.encode({
      version: 2,
      lockTime: at,
      inputs: [{ txid: new Uint8Array(32).fill(9), index: 0, finalScriptSig: new Uint8Array(), sequence: 0xffffffff }],
      outputs: [{ amount: 100_000n, script }],
    });
    const isLegacy = type === 'P2PKH' || type === 'P2SH';
    tx.addInput({
      txid: Transaction.fromRaw(previous, { allowUnknownOutputs: true }).id,
      index: 0,
      ...(paid.redeemScript && { redeemScript: paid.redeemScript }),
      ...('witnessScript' in paid && { witnessScript: paid.witnessScript as Uint8Array }),
      ...(type !== 'P2TR' && { nonWitnessUtxo: previous }),
      ...(!isLegacy && { witnessUtxo: { amount: 100_000n, script } }),
      ...(type === 'P2TR' && { tapInternalKey: bytesOf(publicKey).subarray(1) }),
    });
  }
  tx.addOutputAddress('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 1_000n, NETWORK);
  return hexOf(tx.toPSBT(0));
}

/** Whether an input is signed as the library signs it; Schnorr signatures, which may differ, are verified. */
function isSigned(signed: string, unsigned: string, at: number, secret: Uint8Array): boolean {
  const library = Transaction.fromPSBT(bytesOf(unsigned), LENIENT);
  const { partialSig, tapKeySig } = Transaction.fromPSBT(bytesOf(signed), LENIENT).getInput(at);
  const spent = Array.from({ length: library.inputsLength }, (_, index) => library.getInput(index).witnessUtxo);
  if (tapKeySig !== undefined) {
    const scripts = spent.map((output) => output?.script ?? new Uint8Array());
    const digest = library.preimageWitnessV1(
      at,
      scripts,
      0,
      spent.map((output) => output?.amount ?? 0n),
    );
    return schnorr.verify(tapKeySig, digest, (scripts[at] as Uint8Array).subarray(2));
  }
  library.signIdx(secret, at);
  expect(partialSig).toEqual(library.getInput(at).partialSig);
  return partialSig?.length === 1;
}

describe.each(databasesOf(import.meta.url))('sign_transaction on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;
  let signers: Signers;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Transactions');
    signers = await newSigners(root);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const submit = (signWith: string, unsignedTransaction: string, type: string, client = root) =>
    client.submit('sign_transaction', { signWith, unsignedTransaction, type });
  const sign = async (signWith: string, unsignedTransaction: string, type: string): Promise<string> => {
    const { signedTransaction } = await root.run('sign_transaction', { signWith, unsignedTransaction, type });
    expect(signedTransaction).toMatch(/^[0-9a-f]+$/);
    return signedTransaction;
  };

  describe('Ethereum', () => {
    test.each(Object.entries(ETHEREUM_TRANSACTIONS))('%s', async (_name, transaction) => {
      const { address } = signers.ethereum;
      const unsigned = serializeTransaction(transaction);
      for (const spelling of [unsigned, unsigned.slice(2), unsigned.slice(2).toUpperCase()]) {
        const signed = `0x${await sign(address, spelling, ETHEREUM)}` as TransactionSerialized;
        expect(await recoverTransactionAddress({ serializedTransaction: signed })).toBe(address);
        const { r, s, v, yParity, ...rest } = parseTransaction(signed) as Record<string, unknown>;
        expect(rest).toEqual(parseTransaction(unsigned));
        expect(BigInt(s as Hex)).toBeLessThanOrEqual(secp256k1.Point.Fn.ORDER / 2n);
      }
    });

    test.each([
      ['nothing', ''],
      ['no hex', '0xzz'],
      ['half a byte', '0x02f'],
      ['text', '0x1234'],
      ['a cut one', PLAIN.slice(0, -2)],
      ['one with more behind', `${PLAIN}00`],
      ['an unknown type', PLAIN.replace('0x02', '0x05')],
      [
        'one that is signed',
        serializeTransaction(ETHEREUM_TRANSACTIONS['EIP-1559'] as never, {
          r: `0x${'11'.repeat(32)}`,
          s: `0x${'22'.repeat(32)}`,
          yParity: 0,
        }),
      ],
    ])('%s is no unsigned transaction', async (_name, unsigned) => {
      const answer = await submit(signers.ethereum.address, unsigned, ETHEREUM);
      expect(outcome(answer)).toEqual([400, 'INVALID_TRANSACTION']);
      expect(answer.body.message).toContain('failed to parse transaction');
    });
  });

  describe('Solana', () => {
    const bob = ed25519.getPublicKey(new Uint8Array(32).fill(5));

    test.each(['legacy', 0] as const)('%s', async (version) => {
      const { address, publicKey } = signers.solana;
      expect(base58.encode(bytesOf(publicKey))).toBe(address);
      const unsigned = solanaTransfer([bytesOf(publicKey)], 1, version);
      const signed = bytesOf(await sign(address, hexOf(unsigned), SOLANA));
      expect(signed.subarray(65)).toEqual(unsigned.subarray(65));
      expect(ed25519.verify(signed.subarray(1, 65), unsigned.subarray(65), bytesOf(publicKey))).toBe(true);
      expect(signed[0]).toBe(1);
    });

    test('fills its own slot and keeps the others', async () => {
      const { address, publicKey } = signers.solana;
      const unsigned = solanaTransfer([bob, bytesOf(publicKey)], 2, 'legacy');
      const message = unsigned.subarray(1 + 128);
      unsigned.set(ed25519.sign(message, new Uint8Array(32).fill(5)), 1);
      const signed = bytesOf(await sign(address, hexOf(unsigned), SOLANA));
      expect(signed.subarray(1, 65)).toEqual(unsigned.subarray(1, 65));
      expect(ed25519.verify(signed.subarray(65, 129), message, bytesOf(publicKey))).toBe(true);
    });

    test('refuses what others sign, and what is none', async () => {
      const { address, publicKey } = signers.solana;
      const own = solanaTransfer([bytesOf(publicKey)], 1, 'legacy');
      for (const unsigned of [
        solanaTransfer([bob], 1, 0),
        own.subarray(0, -1),
        Uint8Array.of(...own, 0),
        Uint8Array.of(1),
      ]) {
        expect(outcome(await submit(address, hexOf(unsigned), SOLANA))).toEqual([400, 'INVALID_TRANSACTION']);
      }
      // An account of the transaction that signs nothing.
      const passive = solanaTransfer([bob, bytesOf(publicKey)], 1, 'legacy');
      expect(outcome(await submit(address, hexOf(passive), SOLANA))).toEqual([400, 'INVALID_TRANSACTION']);
      expect(outcome(await submit(address, hexOf(own), SOLANA))).toEqual([200, COMPLETED]);
    });
  });

  describe('Tron', () => {
    test('a transfer, ready to be broadcast', async () => {
      const { address, publicKey } = signers.tron;
      const raw = tronTransfer(address);
      const signed = bytesOf(await sign(address, hexOf(raw), TRON));
      expect(signed.subarray(0, 2)).toEqual(Uint8Array.of(0x0a, (raw.length & 0x7f) | (raw.length > 127 ? 0x80 : 0)));
      const signature = signed.subarray(-65);
      expect(hexOf(signed)).toContain(hexOf(raw));
      expect(signed.subarray(-67, -65)).toEqual(Uint8Array.of(0x12, 0x41));
      const recovered = secp256k1.Signature.fromBytes(signature.subarray(0, 64), 'compact')
        .addRecoveryBit((signature[64] as number) % 27)
        .recoverPublicKey(sha256(raw));
      expect(recovered.toHex(true)).toBe(publicKey);
      const hash = keccak_256(recovered.toBytes(false).subarray(1)).subarray(12);
      expect(createBase58check((bytes: Uint8Array) => sha256(bytes)).encode(Uint8Array.of(0x41, ...hash))).toBe(
        address,
      );
    });

    test('refuses contracts that no policy could judge, by name', async () => {
      const { address } = signers.tron;
      const answer = await submit(address, hexOf(tronVote(address)), TRON);
      expect(outcome(answer)).toEqual([400, 'INVALID_TRANSACTION']);
      expect(answer.body.message).toContain(
        'contract type VoteWitnessContract are not signed, because their contents are not read',
      );
    });

    test('refuses what another owner sends', async () => {
      const raw = hexOf(tronTransfer(signers.tron.address));
      for (const [name, unsigned] of [
        ['ethereum', raw],
        ['tron', raw.slice(0, -2)],
        ['tron', ''],
      ] as const) {
        expect(outcome(await submit(signers[name].address, unsigned, TRON))).toEqual([400, 'INVALID_TRANSACTION']);
      }
    });
  });

  describe('Bitcoin', () => {
    test.each(BITCOIN_TYPES)('%s', async (type) => {
      const { address, publicKey } = signers[type];
      const foreign = hexOf(secp256k1.getPublicKey(new Uint8Array(32).fill(3)));
      const receiver = new Receiver();
      const exported = await root.run('export_wallet_account', { address, targetPublicKey: receiver.publicKey });
      const secret = Uint8Array.from(receiver.open(exported.exportBundle, root.organizationId));
      const unsigned = psbtOf([type, publicKey], [type, publicKey]);
      const signed = await sign(address, unsigned, BITCOIN);
      expect([0, 1].map((at) => isSigned(signed, unsigned, at, secret))).toEqual([true, true]);
      // Not finalised, and inputs of others stay as they are.
      const mixed = await sign(address, psbtOf([type, foreign], [type, publicKey]), BITCOIN);
      const inputs = [0, 1].map((at) => Transaction.fromPSBT(bytesOf(mixed), LENIENT).getInput(at));
      const signatures = inputs.map((input) => input.tapKeySig ?? input.partialSig?.[0]);
      expect(signatures[0]).toBeUndefined();
      expect(signatures[1]).toBeDefined();
      expect(inputs[1]?.finalScriptSig ?? inputs[1]?.finalScriptWitness).toBeUndefined();
    });

    test('refuses inputs that are not the signer’s, or not of its address', async () => {
      const { P2WPKH, P2TR } = signers;
      for (const [signWith, unsigned] of [
        [P2WPKH.address, psbtOf(['P2WPKH', signers.P2PKH.publicKey])],
        [P2WPKH.address, psbtOf(['P2TR', P2WPKH.publicKey])],
        [P2TR.address, psbtOf(['P2WPKH', P2TR.publicKey])],
        [P2WPKH.address, psbtOf(['P2WPKH', P2WPKH.publicKey]).slice(0, -2)],
        [signers.ethereum.address, psbtOf(['P2WPKH', signers.ethereum.publicKey])],
        [signers.solana.address, psbtOf(['P2WPKH', P2WPKH.publicKey])],
      ] as const) {
        expect(outcome(await submit(signWith, unsigned, BITCOIN))).toEqual([400, 'INVALID_TRANSACTION']);
      }
    });

    test('a private key by its id signs for whichever of its addresses is spent', async () => {
      const secret = '5a'.repeat(32);
      const publicKey = hexOf(secp256k1.getPublicKey(bytesOf(secret)));
      const formats = ['ETHEREUM', 'BITCOIN_MAINNET_P2TR', 'BITCOIN_MAINNET_P2WPKH', 'BITCOIN_TESTNET_P2TR'];
      const { privateKeyId } = await importKey(root, 'SECP256K1', secret, formats);
      for (const type of ['P2TR', 'P2WPKH'] as const) {
        const unsigned = psbtOf([type, publicKey]);
        const signed = await sign(privateKeyId, unsigned, BITCOIN);
        expect(isSigned(signed, unsigned, 0, bytesOf(secret)), type).toBe(true);
      }
      expect(outcome(await submit(privateKeyId, psbtOf(['P2PKH', publicKey]), BITCOIN))).toEqual([
        400,
        'INVALID_TRANSACTION',
      ]);
      // Without a format it signs as plainly as any key of its curve.
      const bare = await importKey(root, 'SECP256K1', secret);
      expect(outcome(await submit(bare.privateKeyId, psbtOf(['P2TR', publicKey]), BITCOIN))).toEqual([
        400,
        'INVALID_TRANSACTION',
      ]);
      for (const id of [privateKeyId, bare.privateKeyId]) {
        const signed = `0x${await sign(id, PLAIN, ETHEREUM)}` as TransactionSerialized;
        const address = await recoverTransactionAddress({ serializedTransaction: signed });
        expect(address.toLowerCase().slice(2)).toBe(
          hexOf(keccak_256(secp256k1.getPublicKey(bytesOf(secret), false).subarray(1)).subarray(12)),
        );
      }
    });
  });

  describe('Tempo', () => {
    const envelope = TxEnvelopeTempo.from({ chainId: 42_431, calls: [{ to: TO, value: 5n, data: '0x00' }], nonce: 1n });

    test('a transaction with calls', async () => {
      const unsigned = TxEnvelopeTempo.serialize(envelope);
      expect(unsigned).toMatch(/^0x76/);
      const signed = `0x${await sign(signers.ethereum.address, unsigned, TEMPO)}` as `0x76${string}`;
      const { signature, ...rest } = TxEnvelopeTempo.deserialize(signed);
      const payload = TxEnvelopeTempo.getSignPayload(TxEnvelopeTempo.from(rest as never));
      expect(payload).toBe(TxEnvelopeTempo.getSignPayload(envelope));
      expect(SignatureEnvelope.extractAddress({ payload, signature: signature as never }).toLowerCase()).toBe(
        signers.ethereum.address.toLowerCase(),
      );
    });

    test('refuses what is none', async () => {
      const unsigned = TxEnvelopeTempo.serialize(envelope);
      for (const bad of [PLAIN, `${unsigned}00`, unsigned.slice(0, -2), '0x76', '0x76c0']) {
        const answer = await submit(signers.ethereum.address, bad, TEMPO);
        expect(outcome(answer), bad).toEqual([400, 'INVALID_TRANSACTION']);
      }
    });
  });

  test('a key that cannot sign such a transaction is refused', async () => {
    const { solana, p256, spark, P2TR, tron } = signers;
    for (const [signWith, unsigned, type] of [
      [solana.address, PLAIN, ETHEREUM],
      [p256.address, PLAIN, ETHEREUM],
      // These sign with Schnorr signatures, which no Ethereum node takes.
      [spark.address, PLAIN, ETHEREUM],
      [P2TR.address, PLAIN, ETHEREUM],
      [P2TR.address, TxEnvelopeTempo.serialize(TxEnvelopeTempo.from({ chainId: 1, calls: [{ to: TO }] })), TEMPO],
      [tron.address, hexOf(solanaTransfer([bytesOf(solana.publicKey)], 1, 0)), SOLANA],
      [solana.address, hexOf(tronTransfer(tron.address)), TRON],
    ] as const) {
      expect(outcome(await submit(signWith, unsigned, type)), type).toEqual([400, 'INVALID_TRANSACTION']);
    }
  });

  test('a type that is not known is refused as such', async () => {
    for (const type of ['TRANSACTION_TYPE_CARDANO', 'TRANSACTION_TYPE_UNSPECIFIED', '']) {
      const answer = await submit(signers.ethereum.address, PLAIN, type);
      expect(outcome(answer), type).toEqual([400, 'UNSUPPORTED_TRANSACTION_TYPE']);
    }
    const missing = { signWith: signers.ethereum.address, unsignedTransaction: PLAIN };
    expect(outcome(await root.submit('sign_transaction', missing))).toEqual([400, 'REQUEST_INVALID']);
  });

  test('in its first version it names a private key by id', async () => {
    const { privateKeyId, addresses } = await importKey(root, 'SECP256K1', '6b'.repeat(32), ['ETHEREUM']);
    const parameters = { privateKeyId, unsignedTransaction: PLAIN, type: ETHEREUM };
    const overrides = { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION' };
    const { activity } = (await root.submit('sign_transaction', parameters, overrides)).body;
    expect(activity.intent).toEqual({ signTransactionIntent: parameters });
    const signed = `0x${activity.result.signTransactionResult.signedTransaction}` as TransactionSerialized;
    expect(await recoverTransactionAddress({ serializedTransaction: signed })).toBe(addresses[0]?.address);
  });

  test('what does not parse is refused before anybody is asked', async () => {
    const { address } = signers.ethereum;
    const plain = await createUser(root, 'plain');
    expect(outcome(await submit(address, PLAIN, ETHEREUM, plain))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    expect(outcome(await submit(address, '0x02', ETHEREUM, plain))).toEqual([400, 'INVALID_TRANSACTION']);
  });

  test('with two who must agree, the signature comes with the second vote', async () => {
    const first = await createSubOrganization(parent, 'Two');
    const { addresses } = await newWallet(first);
    const second = await needTwo(first);
    const [address = ''] = addresses;
    const answer = await submit(address, PLAIN, ETHEREUM, first);
    expect(outcome(answer)).toEqual([200, PENDING]);
    expect(answer.body.activity.result).toEqual({});
    const done = (await approve(second, answer.body.activity.fingerprint)).body.activity;
    const signed = `0x${done.result.signTransactionResult.signedTransaction}` as TransactionSerialized;
    expect(await recoverTransactionAddress({ serializedTransaction: signed })).toBe(address);
    // What does not parse waits for nobody.
    expect(outcome(await submit(address, `${PLAIN}00`, ETHEREUM, first))).toEqual([400, 'INVALID_TRANSACTION']);
  });
});

describe.each(databasesOf(import.meta.url))('a transaction that is refused on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('touches no key', async () => {
    const { root, app } = service;
    const signers = await newSigners(root);
    const used = vi.spyOn(app.keyring, 'sign');
    const { ethereum, solana, tron, P2WPKH, P2TR } = signers;
    const stranger = hexOf(secp256k1.getPublicKey(new Uint8Array(32).fill(3)));
    for (const [signWith, unsignedTransaction, type] of [
      [ethereum.address, `${PLAIN}00`, ETHEREUM],
      [solana.address, PLAIN, ETHEREUM],
      [P2TR.address, PLAIN, ETHEREUM],
      [randomUUID(), PLAIN, ETHEREUM],
      [ethereum.address, PLAIN, TEMPO],
      [solana.address, hexOf(solanaTransfer([new Uint8Array(32).fill(9)], 1, 0)), SOLANA],
      [ethereum.address, hexOf(tronTransfer(tron.address)), TRON],
      [P2WPKH.address, psbtOf(['P2WPKH', stranger]), BITCOIN],
      [P2WPKH.address, PLAIN, BITCOIN],
    ] as const) {
      const answer = await root.submit('sign_transaction', { signWith, unsignedTransaction, type });
      expect(answer.status, `${signWith} ${type}`).toBeGreaterThanOrEqual(400);
    }
    expect(used).not.toHaveBeenCalled();
    await root.run('sign_transaction', { signWith: ethereum.address, unsignedTransaction: PLAIN, type: ETHEREUM });
    expect(used).toHaveBeenCalledTimes(1);
  });
});
