declare module 'workerd' {
  /** Path of the binary. */
  const binary: string;
  export default binary;
}
