/** `FIAT_ON_RAMP_PROVIDER_MOONPAY` as people know it. */
export function providerName(provider: string): string {
  const name = provider.replace(/^FIAT_ON_RAMP_PROVIDER_/, '').toLowerCase();
  return name === 'moonpay' ? 'MoonPay' : name.slice(0, 1).toUpperCase() + name.slice(1);
}
