// @turnkey/solana signs through the running service. What it brings back verifies with @solana/web3.js, and equals what a
// keypair of that library signs itself.
import { createPublicKey, verify } from 'node:crypto';
import {
  AddressLookupTableAccount,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/http';
import { defaultSolanaAccountAtIndex, type TurnkeyApiClient } from '@turnkey/sdk-server';
import { TurnkeySigner } from '@turnkey/solana';
import { derivePath } from 'ed25519-hd-key';
import { Mnemonic } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, errorCodeOf, fresh, importMnemonic, openCouncil, refusal } from './sdk.ts';

const PHRASE = 'test test test test test test test test test test test junk';
const BLOCKHASH = 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N';

/** The same key in the hands of the library. */
const local = Keypair.fromSeed(derivePath("m/44'/501'/0'/0'", Mnemonic.fromPhrase(PHRASE).computeSeed().slice(2)).key);
const address = local.publicKey.toBase58();
const receiver = Keypair.generate().publicKey;
const other = Keypair.generate();

const transferFrom = (fromPubkey: PublicKey, lamports = 1000) =>
  SystemProgram.transfer({ fromPubkey, toPubkey: receiver, lamports });

const legacy = (lamports?: number) =>
  new Transaction({ feePayer: local.publicKey, recentBlockhash: BLOCKHASH }).add(
    transferFrom(local.publicKey, lamports),
  );

const table = new AddressLookupTableAccount({
  key: Keypair.generate().publicKey,
  state: {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses: [receiver],
  },
});

const versioned = (tables: AddressLookupTableAccount[] = [], payerKey = local.publicKey) =>
  new VersionedTransaction(
    new TransactionMessage({
      payerKey,
      recentBlockhash: BLOCKHASH,
      instructions: [transferFrom(local.publicKey)],
    }).compileToV0Message(tables),
  );

/** A copy that the library signed itself. */
function signedLocally<T extends Transaction | VersionedTransaction>(transaction: T): Buffer {
  if (transaction instanceof VersionedTransaction) {
    const copy = VersionedTransaction.deserialize(transaction.serialize());
    copy.sign([local]);
    return Buffer.from(copy.serialize());
  }
  const copy = Transaction.from(transaction.serialize({ requireAllSignatures: false }));
  copy.partialSign(local);
  return copy.serialize();
}

function verifies(message: Uint8Array, signature: Uint8Array, key: PublicKey): boolean {
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key.toBytes()]);
  return verify(null, message, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
}

let service: TestServer;
let root: TurnkeyApiClient;
let http: TurnkeyClient;
let organizationId: string;

beforeAll(async () => {
  service = await TestServer.start();
  const { apiPublicKey, apiPrivateKey } = service.credentials;
  ({ organizationId } = service.credentials);
  root = connect(service.baseUrl, service.credentials);
  http = new TurnkeyClient({ baseUrl: service.baseUrl }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
  const { addresses } = await importMnemonic(service.baseUrl, root, PHRASE, {
    walletName: fresh('known'),
    accounts: [defaultSolanaAccountAtIndex(0)],
  });
  expect(addresses).toEqual([address]);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

describe.each([
  ['the server SDK', () => root],
  ['the HTTP client', () => http],
] as const)('@turnkey/solana over %s', (_, client) => {
  let signer: TurnkeySigner;

  beforeAll(() => {
    // The signer's types name another version of the HTTP client.
    signer = new TurnkeySigner({ organizationId, client: client() as typeof root });
  });

  test('a message', async () => {
    for (const message of [Buffer.from('Zoë says hello'), Buffer.alloc(0), Buffer.alloc(300, 7)]) {
      const signature = await signer.signMessage(message, address);
      expect(signature).toHaveLength(64);
      expect(verifies(message, signature, local.publicKey)).toBe(true);
    }
  });

  test('a legacy transaction', async () => {
    const transaction = legacy();
    const signed = (await signer.signTransaction(transaction, address)) as Transaction;
    expect(signed.verifySignatures()).toBe(true);
    expect(signed.serialize()).toEqual(signedLocally(transaction));
  });

  test('a versioned transaction, with and without a lookup table', async () => {
    for (const transaction of [versioned(), versioned([table])]) {
      const signed = (await signer.signTransaction(transaction, address)) as VersionedTransaction;
      expect(verifies(signed.message.serialize(), signed.signatures[0] as Uint8Array, local.publicKey)).toBe(true);
      expect(Buffer.from(signed.serialize())).toEqual(signedLocally(transaction));
    }
    expect(versioned([table]).message.addressTableLookups).toHaveLength(1);
  });

  test('signatures that are added to transactions', async () => {
    const transactions = [legacy(), versioned()];
    for (const transaction of transactions) {
      const expected = signedLocally(transaction);
      await signer.addSignature(transaction, address);
      expect(Buffer.from(transaction.serialize())).toEqual(expected);
    }
  });

  test('many transactions at once', async () => {
    const transactions = [legacy(1), versioned(), legacy(2), versioned([table]), legacy(3)];
    const expected = transactions.map((transaction) => signedLocally(transaction));
    const signed = await signer.signAllTransactions(transactions, address);
    expect(signed.map((transaction) => Buffer.from(transaction.serialize()))).toEqual(expected);
  });

  test('one of two signers, whatever the other has done', async () => {
    const asPayer = new Transaction({ feePayer: local.publicKey, recentBlockhash: BLOCKHASH }).add(
      transferFrom(other.publicKey),
    );
    asPayer.partialSign(other);
    const complete = (await signer.signTransaction(asPayer, address)) as Transaction;
    expect(complete.verifySignatures()).toBe(true);
    // The library would refuse to serialize it if a signature were missing or wrong.
    expect(complete.serialize()).toEqual(signedLocally(asPayer));

    const asSecond = versioned([], other.publicKey);
    const half = (await signer.signTransaction(asSecond, address)) as VersionedTransaction;
    expect(half.signatures[0]).toEqual(new Uint8Array(64));
    half.sign([other]);
    for (const [index, { publicKey }] of [other, local].entries()) {
      expect(verifies(half.message.serialize(), half.signatures[index] as Uint8Array, publicKey)).toBe(true);
    }
  });
});

test('a private key by its id and by its address', async () => {
  const { privateKeys } = await root.createPrivateKeys({
    privateKeys: [
      {
        privateKeyName: fresh('key'),
        curve: 'CURVE_ED25519',
        addressFormats: ['ADDRESS_FORMAT_SOLANA'],
        privateKeyTags: [],
      },
    ],
  });
  const owner = privateKeys[0]?.addresses?.[0]?.address as string;
  const signer = new TurnkeySigner({ organizationId, client: root });
  for (const signWith of [owner, privateKeys[0]?.privateKeyId as string]) {
    const signature = await signer.signMessage(Buffer.from('mine'), signWith);
    expect(verifies(Buffer.from('mine'), signature, new PublicKey(owner))).toBe(true);
  }
});

test('a transaction that is not for the signer, and a quorum that has not agreed yet', async () => {
  const signer = new TurnkeySigner({ organizationId, client: root });
  const foreign = new Transaction({ feePayer: other.publicKey, recentBlockhash: BLOCKHASH }).add(
    transferFrom(other.publicKey),
  );
  const refused = await refusal(signer.signTransaction(foreign, address));
  expect([refused.code, errorCodeOf(refused)]).toEqual([3, 'INVALID_TRANSACTION']);

  const { id, members } = await openCouncil(service.baseUrl, root, 2);
  const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
  const asked = await first.createWallet({ walletName: 'treasury', accounts: [defaultSolanaAccountAtIndex(0)] });
  await second.approveActivity({ fingerprint: asked.activity.fingerprint });
  const { activity } = await first.getActivity({ activityId: asked.activity.id });
  const treasury = activity.result.createWalletResult?.addresses[0] as string;
  const careful = new TurnkeySigner({ organizationId: id, client: first });
  const pending = await careful.signMessage(Buffer.from('spend'), treasury).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(pending).toMatchObject({
    name: 'TurnkeyActivityConsensusNeededError',
    activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  });
});
