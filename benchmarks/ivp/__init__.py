"""Initial-value problems with published end values (Test Set for IVP Solvers, Bari), stated as plain residuals."""
