declare module '*.module.css' {
  const names: { readonly [name: string]: string };
  export default names;
}

declare module '*.css';

declare module '*.svg' {
  const address: string;
  export default address;
}
