//! The check that types are neither `Send` nor `Sync`.

/// Does not compile if one of the types is `Send` or `Sync`: then two implementations fit.
macro_rules! stay {
    ($($ty:ty),* $(,)?) => {
        $(const _: () = {
            trait Stays<Why> {
                const STAYS: () = ();
            }
            impl<T: ?Sized> Stays<()> for T {}
            impl<T: ?Sized + Send> Stays<u8> for T {}
            impl<T: ?Sized + Sync> Stays<u16> for T {}
            <$ty as Stays<_>>::STAYS
        };)*
    };
}
