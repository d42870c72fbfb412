declare module 'workerd' {
  /** The path of the binary. */
  const binary: string;
  export default binary;
}
