/** What the service tells anybody who opens the console, before a sign-in. Ids only go to browsers on its own machine. */
export interface ServiceContext {
  readonly version: string;
  readonly now: string;
  readonly isLoopback: boolean;
  readonly firstOrganizationId?: string;
  /** The file that the first start wrote, while it is there. */
  readonly credentialsFile?: { readonly publicKey: string };
}

export async function fetchContext(signal?: AbortSignal): Promise<ServiceContext> {
  const response = await fetch('/console/context.json', signal ? { signal } : {});
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return (await response.json()) as ServiceContext;
}
