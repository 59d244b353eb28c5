// A wallet on two chains: a signature that anybody can check, then the mnemonic out of the service and into another
// organization, where it has the same addresses.
import { createPublicKey, verify } from 'node:crypto';
import {
  ApiKeyStamper,
  createClient,
  fetchServiceKeys,
  generateApiKey,
  generateTargetKey,
  openWalletBundle,
  sealMnemonic,
} from '@custos/sdk';
import { rootAccess } from './credentials.ts';

const { client, baseUrl, organizationId } = rootAccess();
// A name that no earlier run has used.
const walletName = `Savings ${Date.now().toString(36)}`;

const accounts = [
  {
    curve: 'CURVE_SECP256K1' as const,
    pathFormat: 'PATH_FORMAT_BIP32' as const,
    path: "m/44'/60'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM' as const,
  },
  {
    curve: 'CURVE_ED25519' as const,
    pathFormat: 'PATH_FORMAT_BIP32' as const,
    path: "m/44'/501'/0'/0'",
    addressFormat: 'ADDRESS_FORMAT_SOLANA' as const,
  },
];
const { walletId, addresses } = await client.createWallet({ walletName, accounts });
console.log(`created: ${addresses.join(', ')}`);

const [, solana] = addresses;
if (solana === undefined) throw new Error('two addresses were expected');
const { account } = await client.getWalletAccount({ walletId, address: solana });
const { r, s } = await client.signRawPayload({
  signWith: solana,
  payload: 'Hello from Custos',
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
});
// The fixed bytes say "an Ed25519 public key".
const spki = Buffer.from(`302a300506032b6570032100${account.publicKey}`, 'hex');
const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
const verified = verify(null, Buffer.from('Hello from Custos'), publicKey, Buffer.from(r + s, 'hex'));
console.log(`the signature is ${verified ? 'right' : 'WRONG'}`);

// An application pins this key; it is what makes a bundle ours.
const bundleSigner = (await fetchServiceKeys(baseUrl)).find(({ role }) => role === 'bundle-signer')?.publicKey;
if (bundleSigner === undefined) throw new Error('the service publishes no bundle signer');
const target = await generateTargetKey();
const { exportBundle } = await client.exportWallet({ walletId, targetPublicKey: target.publicKey });
const exported = await openWalletBundle({
  exportBundle,
  targetPrivateKey: target.privateKey,
  organizationId,
  bundleSigner,
});
console.log(`exported: ${exported.mnemonic.split(' ').length} words`);

const key = await generateApiKey();
const { subOrganizationId, rootUserIds } = await client.createSubOrganization({
  subOrganizationName: 'New home',
  rootQuorumThreshold: 1,
  rootUsers: [
    {
      userName: 'Owner',
      apiKeys: [{ apiKeyName: 'Laptop', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
    },
  ],
});
const [userId] = rootUserIds ?? [];
if (userId === undefined) throw new Error('a root user was expected');
const owner = createClient({ baseUrl, organizationId: subOrganizationId, stamper: new ApiKeyStamper(key) });
const { importBundle } = await owner.initImportWallet({ userId });
const encryptedBundle = await sealMnemonic({
  mnemonic: exported.mnemonic,
  importBundle,
  userId,
  organizationId: subOrganizationId,
  bundleSigner,
});
const imported = await owner.importWallet({ userId, walletName, encryptedBundle, accounts });
console.log(`imported: ${imported.addresses.join(', ')}`);
