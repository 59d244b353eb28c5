// Everything that this page asks the service for. `page.js` shows it.
import {
  createClient,
  createPasskey,
  encryptOtpCode,
  loginClientSignature,
  PasskeyStamper,
  proxyClient,
  SessionKey,
  signupClientSignature,
  verifySession,
} from '@custos/sdk';

/** Addresses, the proxy's id, and the keys of the service, which whoever serves this page has pinned. */
export const config = await (await fetch('/config.json')).json();

const proxy = proxyClient({ authProxyUrl: config.baseUrl, configId: config.configId });
const rp = { id: location.hostname, name: 'Sign-up example' };
const wallet = {
  walletName: 'My wallet',
  accounts: [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ],
};

const clientOf = (organizationId, stamper) => createClient({ baseUrl: config.baseUrl, organizationId, stamper });

export const sendCode = (email) => proxy.otpInitV2({ otpType: 'OTP_TYPE_EMAIL', contact: email });

export const codeFormat = () => proxy.walletKitConfig();

/** Turns a code into a token that is good for the key that is made here, and for no other. */
export async function checkCode({ otpId, otpEncryptionTargetBundle }, otpCode) {
  const key = await SessionKey.generate();
  const encryptedOtpBundle = await encryptOtpCode({
    targetBundle: otpEncryptionTargetBundle,
    otpCode,
    publicKey: key.publicKey,
    otpPublicKey: config.otpPublicKey,
  });
  const { verificationToken } = await proxy.otpVerifyV2({ otpId, encryptedOtpBundle });
  return { key, verificationToken };
}

/** Whether somebody has proven this address before. The token shows that it is ours to ask about. */
export async function hasAccount(email, { verificationToken }) {
  const { organizationId } = await proxy.account({ filterType: 'EMAIL', filterValue: email, verificationToken });
  return organizationId !== undefined;
}

export async function signUpWithCode(email, { key, verificationToken }) {
  const request = { userEmail: email, apiKeys: [], authenticators: [], oauthProviders: [] };
  const clientSignature = await signupClientSignature({ key, verificationToken, request });
  await proxy.signupV2({ ...request, wallet, verificationToken, clientSignature });
}

export async function logInWithCode({ key, verificationToken }) {
  const clientSignature = await loginClientSignature({ key, verificationToken });
  const { session } = await proxy.otpLoginV2({ verificationToken, publicKey: key.publicKey, clientSignature });
  return await enter(session, key);
}

export async function signUpWithPasskey(email) {
  const passkey = await createPasskey({ rp, user: { name: email }, authenticatorName: 'First device' });
  // A key of one minute, so that the first login does not ask for the passkey again.
  const first = await SessionKey.generate();
  const { organizationId } = await proxy.signupV2({
    userEmail: email,
    authenticators: [passkey],
    apiKeys: [
      {
        apiKeyName: 'First login',
        publicKey: first.publicKey,
        curveType: 'API_KEY_CURVE_P256',
        expirationSeconds: '60',
      },
    ],
    oauthProviders: [],
    wallet,
  });
  return await logIn(organizationId, first);
}

/** The parent's id is enough: the service finds the account that holds the passkey. */
export const logInWithPasskey = () => logIn(config.organizationId, new PasskeyStamper({ rpId: rp.id }));

async function logIn(organizationId, stamper) {
  const key = await SessionKey.generate();
  const { session } = await clientOf(organizationId, stamper).stampLogin({ publicKey: key.publicKey });
  return await enter(session, key);
}

/** From here on the session key stamps. */
async function enter(session, key) {
  const { organizationId, userId, expiresAtMs } = await verifySession(session, config);
  return { client: clientOf(organizationId, key), userId, expiresAtMs };
}

export async function readAccount({ client, userId }) {
  const [{ user }, { accounts }] = await Promise.all([client.getUser({ userId }), client.listWalletAccounts({})]);
  return { email: user.userEmail, passkeys: user.authenticators, address: accounts[0].address };
}

/** `personal_sign` of Ethereum (EIP-191): a prefix, so that a message is never a transaction. */
export async function signMessage({ client }, address, message) {
  const length = new TextEncoder().encode(message).length;
  const { r, s, v } = await client.signRawPayload({
    signWith: address,
    payload: `\x19Ethereum Signed Message:\n${length}${message}`,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  return `0x${r}${s}${(Number.parseInt(v, 16) + 27).toString(16)}`;
}

/** A proven address finds the account again. */
export async function confirmEmail({ client, userId }, email, { verificationToken }) {
  await client.updateUserEmail({ userId, userEmail: email, verificationToken });
}

export async function addPasskey({ client, userId }, email) {
  const passkey = await createPasskey({ rp, user: { name: email }, authenticatorName: `Device of ${today()}` });
  await client.createAuthenticators({ userId, authenticators: [passkey] });
}

export async function removePasskey({ client, userId }, authenticatorId) {
  await client.deleteAuthenticators({ userId, authenticatorIds: [authenticatorId] });
}

const today = () => new Date().toISOString().slice(0, 16).replace('T', ' ');
