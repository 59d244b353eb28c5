import { createContext, useContext } from 'react';

export interface ShellActions {
  readonly openSearch: () => void;
  readonly openKeys: () => void;
}

const nothing = (): void => undefined;

/** What pages may ask of the frame around them. */
export const ShellContext = createContext<ShellActions>({ openSearch: nothing, openKeys: nothing });
export const useShell = (): ShellActions => useContext(ShellContext);
