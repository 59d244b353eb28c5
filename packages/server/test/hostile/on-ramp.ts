import { ETH, MOONPAY, MOONPAY_KEYS, sealTo } from '../flows/fixtures/on-ramp.ts';
import type { TestClient } from '../harness/client.ts';

// Credentials at an on-ramp provider and purchases, for the tests of every operation.

const recipients = new Map<string, string>();

/** The key to which the secrets of such credentials are encrypted. */
async function recipientOf(baseUrl: string): Promise<string> {
  let recipient = recipients.get(baseUrl);
  if (recipient === undefined) {
    const { keys } = (await (await fetch(`${baseUrl}/public/v1/discovery/keys`)).json()) as {
      keys: { role: string; publicKey: string }[];
    };
    recipient = keys.find(({ role }) => role === 'on-ramp-secret')?.publicKey ?? '';
    recipients.set(baseUrl, recipient);
  }
  return recipient;
}

/** What a credential is made of at its creation and by an update. */
export async function onRampContent({ baseUrl }: TestClient, projectId: string) {
  const recipient = await recipientOf(baseUrl);
  return {
    onrampProvider: MOONPAY,
    projectId,
    publishableApiKey: MOONPAY_KEYS.publishable,
    encryptedSecretApiKey: sealTo(recipient, MOONPAY_KEYS.secret),
    encryptedPrivateApiKey: sealTo(recipient, 'of no use to this provider'),
  };
}

export const onRampParams = async (client: TestClient, projectId: string) => ({
  ...(await onRampContent(client, projectId)),
  sandboxMode: false,
});

export async function newOnRampCredential(client: TestClient, projectId: string): Promise<string> {
  const parameters = await onRampParams(client, projectId);
  return (await client.run('create_fiat_on_ramp_credential', parameters)).fiatOnRampCredentialId;
}

/** A purchase with everything that can be said about one. */
export const purchaseParams = () => ({
  onrampProvider: MOONPAY,
  ...ETH,
  fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_USD',
  fiatCurrencyAmount: '50.5',
  paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_PAYPAL',
  countryCode: 'US',
  countrySubdivisionCode: 'NY',
  sandboxMode: false,
  urlForSignature: `https://buy.moonpay.com/?apiKey=${MOONPAY_KEYS.publishable}`,
});

export const newPurchase = async (client: TestClient): Promise<string> =>
  (await client.run('init_fiat_on_ramp', purchaseParams())).onRampTransactionId;
