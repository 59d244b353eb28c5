// What the pages of the tests have in common: they answer with what came of a call, since an error cannot leave a page.

export interface Called {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the packages answer is asserted on.
  readonly answer?: any;
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly code?: string | number;
    readonly cause?: string;
  };
}

export interface MethodCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

export async function attempt(work: () => Promise<unknown>): Promise<Called> {
  try {
    return { answer: await work() };
  } catch (caught) {
    const { name, message, code, cause } = caught as Error & { code?: string | number };
    return {
      error: {
        name,
        message,
        ...(code !== undefined && { code }),
        ...(cause instanceof Error && { cause: cause.message }),
      },
    };
  }
}

/** Calls a method by its name, as a test says it. */
export const invoke = (target: object, { method, args }: MethodCall): Promise<Called> =>
  attempt(
    () => (target as Record<string, (...args: readonly unknown[]) => Promise<unknown>>)[method]?.(...args) as never,
  );
